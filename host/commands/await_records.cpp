#include "await_records.hpp"

#include "duration.hpp"
#include "outcomes.hpp"
#include "output.hpp"
#include "rollout.hpp"

namespace davit::host {

namespace {

// The pause between two attempts to watch a server that has gone away.
constexpr std::chrono::milliseconds reconnect_interval{500};

// The narrowest selection that covers all outcomes.
v1::StatusRequest selection(const std::vector<v1::Outcome>& outcomes) {
  v1::StatusRequest out;
  out.set_kind(outcomes[0].kind());
  out.set_region(outcomes[0].region());
  out.set_id(outcomes[0].id());
  for (const auto& o : outcomes) {
    if (o.kind() != out.kind()) out.clear_kind();
    if (o.region() != out.region()) out.clear_region();
    if (o.id() != out.id()) out.clear_id();
  }
  return out;
}

// Everything that a command waits for. `Objects` are Rollouts or Awaiteds.
template <class Object>
struct Waiting {
  std::FILE* progress;  // where progress is printed
  std::vector<Object> objects;
  ExitCode code = exit_code_done;

  // False: there is nothing left to wait for.
  bool see(const v1::StatusResponse& response) {
    size_t open = 0;
    for (auto& object : objects) {
      if (object.state() != Rollout::State::waiting) continue;
      const std::string before = object.line();
      const auto state = look(object, response);
      if (object.line() != before)
        tell(state == Rollout::State::failed ? stderr : progress, object.line());
      if (state == Rollout::State::waiting) ++open;
      if (state == Rollout::State::failed) code = exit_code_rollout_failed;
    }
    std::fflush(progress);
    return open > 0;
  }
  static Rollout::State look(Rollout& rollout, const v1::StatusResponse& response) {
    return rollout.see(response, std::chrono::steady_clock::now());
  }
  static Rollout::State look(Awaited& awaited, const v1::StatusResponse& response) {
    return awaited.see(response);
  }
};

template <class Object>
ExitCode await_all(OperatorClient& client, const v1::StatusRequest& request,
                   Waiting<Object> waiting, const Await& how) {
  for (;;) {
    v1::StatusResponse response;
    auto r = client.watch("WatchStatus", request, response, [&] { return waiting.see(response); });
    if (r.ok()) return waiting.code;
    // A server that is away may come back: try again.
    if (r.error().code == Code::unavailable && client.pause(reconnect_interval)) continue;
    if (r.error().code == Code::deadline_exceeded) break;
    const int code = failed(how.command, r.error());
    if (r.error().code != Code::unavailable) return static_cast<ExitCode>(code);
    break;
  }
  for (const auto& object : waiting.objects) {
    if (object.state() != Rollout::State::waiting) continue;
    tell(stderr,
         std::string(how.not_yet) + " after " + to_text(how.timeout) + ": " + object.line());
  }
  return waiting.code == exit_code_done ? exit_code_no_answer : waiting.code;
}

}  // namespace

ExitCode await_records(OperatorClient& client, const std::vector<v1::Outcome>& outcomes,
                       const Await& how) {
  Waiting<Rollout> waiting{how.progress, {}};
  std::vector<v1::Outcome> taken;
  for (const auto& o : outcomes) {
    if (is_refused(o) || o.version() == 0) continue;
    taken.push_back(o);
    waiting.objects.emplace_back(o.kind(), o.region(), o.id(), o.version(), o.incarnation());
  }
  if (taken.empty()) return exit_code_done;
  return await_all(client, selection(taken), std::move(waiting), how);
}

ExitCode await_goal(OperatorClient& client, const WaitGoal& goal,
                    const std::vector<v1::Outcome>& keys, const Await& how) {
  if (goal.type == WaitGoal::Type::running) return await_records(client, keys, how);
  Waiting<Awaited> waiting{how.progress, {}};
  for (const auto& key : keys)
    waiting.objects.emplace_back(goal, key.kind(), key.region(), key.id(), key.version());
  if (keys.empty()) return exit_code_done;
  return await_all(client, selection(keys), std::move(waiting), how);
}

}  // namespace davit::host
