// davit apply -f FILE... [--wait [--timeout 60s]] [--again] [--dry-run]
#include <cstdio>
#include <map>
#include <random>

#include "batch.hpp"
#include "davit.hpp"
#include "documents.hpp"
#include "duration.hpp"
#include "operator_client.hpp"
#include "outcomes.hpp"
#include "output.hpp"
#include "rollout.hpp"

namespace davit::host {

namespace {

// The most refusals that are printed with the same message.
constexpr size_t refusals_told = 10;
// The pause between two attempts to watch a server that has gone away.
constexpr std::chrono::milliseconds reconnect_interval{500};
// The limit of `--wait` as a whole, when the command has no --timeout.
constexpr std::chrono::seconds wait_timeout{60};

struct ApplyOptions {
  std::vector<std::string> files;
  bool wait = false;
  bool again = false;
  bool dry_run = false;
  std::string timeout;  // as printed
  Format format = Format::table;
  ServerAddress server;
};

std::string random_id() {
  std::random_device device;
  const uint64_t id = static_cast<uint64_t>(device()) << 32 | device();
  return "apply-" + std::to_string(id);
}

// Sends the documents in batches. Prints each refusal with its file and line. Returns the exit code
// of the first refusal.
Result<ExitCode> send(OperatorClient& client, const std::vector<SourceDocument>& documents,
                      const ApplyOptions& options, std::vector<v1::Outcome>& outcomes) {
  ExitCode code = exit_code_done;
  std::map<std::string, size_t> refused;  // the number of refusals with each message
  for (size_t next = 0; next < documents.size();) {
    v1::ApplyRequest request;
    request.set_dry_run(options.dry_run);
    request.set_again(options.again);
    request.set_request_id(random_id());
    const size_t first = next;
    const size_t end = batch_end(first, documents.size(),
                                 [&](size_t i) { return documents[i].document.ByteSizeLong(); });
    for (; next < end; ++next) *request.add_documents() = documents[next].document;
    v1::ApplyResponse response;
    if (auto r = client.call("Apply", request, response); !r.ok()) return r.error();
    if (auto r = one_for_each(response.outcomes_size(), end - first); !r.ok()) return r.error();
    for (int i = 0; i < response.outcomes_size(); ++i) {
      const auto& o = response.outcomes(i);
      if (is_refused(o)) {
        if (code == exit_code_done) code = exit_code_of(o);
        // A full disk, for example, refuses every document: print the first few and count the rest.
        if (++refused[o.message()] <= refusals_told)
          tell(stderr, documents[first + static_cast<size_t>(i)].fault(o.field(), o.message()));
      } else if (options.format == Format::table) {
        tell(stdout, outcome_line(o, options.dry_run));
      }
      outcomes.push_back(o);
    }
  }
  for (const auto& [message, times] : refused) {
    if (times > refusals_told)
      tell(stderr, "... and " + std::to_string(times - refusals_told) + " more: " + message);
  }
  return code;
}

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

struct Waiting {
  std::FILE* progress;  // where progress is printed
  std::vector<Rollout> rollouts;
  size_t open = 0;
  ExitCode code = exit_code_done;

  // False: there is nothing left to wait for.
  bool see(const v1::StatusResponse& response) {
    open = 0;
    for (auto& r : rollouts) {
      if (r.state() != Rollout::State::waiting) continue;
      const std::string before = r.line();
      const auto state = r.see(response, std::chrono::steady_clock::now());
      if (r.line() != before) tell(state == Rollout::State::failed ? stderr : progress, r.line());
      if (state == Rollout::State::waiting) ++open;
      if (state == Rollout::State::failed) code = exit_code_rollout_failed;
    }
    std::fflush(progress);
    return open > 0;
  }
};

// Waits until all records run or have failed.
ExitCode wait_for(OperatorClient& client, const std::vector<v1::Outcome>& outcomes,
                  const ApplyOptions& options) {
  // Programs read JSON and YAML, so lines for people go to standard error.
  Waiting waiting{options.format == Format::table ? stdout : stderr, {}, 0, exit_code_done};
  std::vector<v1::Outcome> taken;
  for (const auto& o : outcomes) {
    if (is_refused(o)) continue;
    taken.push_back(o);
    waiting.rollouts.emplace_back(o.kind(), o.region(), o.id(), o.version(), o.incarnation());
  }
  if (taken.empty()) return exit_code_done;
  const v1::StatusRequest request = selection(taken);
  for (;;) {
    v1::StatusResponse response;
    auto r = client.watch("WatchStatus", request, response, [&] { return waiting.see(response); });
    if (r.ok()) return waiting.code;
    // A server that is away may come back: try again.
    if (r.error().code == Code::unavailable && client.pause(reconnect_interval)) continue;
    if (r.error().code == Code::deadline_exceeded) break;
    const int code = failed("apply", r.error());
    if (r.error().code != Code::unavailable) return static_cast<ExitCode>(code);
    break;
  }
  for (const auto& rollout : waiting.rollouts) {
    if (rollout.state() == Rollout::State::waiting) {
      tell(stderr, "not running after " + options.timeout + ": " + rollout.line());
    }
  }
  return waiting.code == exit_code_done ? exit_code_no_answer : waiting.code;
}

int apply_files(const ApplyOptions& options) {
  Documents documents = read_documents(options.files, false);
  for (const auto& fault : documents.faults) tell(stderr, fault);
  if (documents.good.empty()) {
    if (documents.faults.empty())
      std::fprintf(stderr, "davit apply: there is no document in what was given\n");
    return exit_code_refused;
  }
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("apply", client.error());
  std::vector<v1::Outcome> outcomes;
  auto sent = send(*client, documents.good, options, outcomes);
  if (options.format != Format::table) {
    v1::ApplyResponse all;
    for (const auto& o : outcomes) *all.add_outcomes() = o;
    print(to_json(all), options.format);
  }
  if (!sent.ok()) return failed("apply", sent.error());
  std::fflush(stdout);
  const ExitCode waited =
      options.wait && !options.dry_run ? wait_for(*client, outcomes, options) : exit_code_done;
  if (!documents.faults.empty()) return exit_code_refused;
  return *sent != exit_code_done ? *sent : waited;
}

int apply(ApplyOptions options) {
  if (options.files.empty()) throw UsageError("which file? (-f FILE, or -f - for standard input)");
  auto& timeout = options.server.timeout;
  if (options.wait && !timeout) timeout = wait_timeout;
  options.timeout = to_text(timeout.value_or(wait_timeout));
  return apply_files(options);
}

}  // namespace

CommandPtr apply_command() {
  auto options = std::make_shared<ApplyOptions>();
  auto command = std::make_shared<Command>("apply", "-f FILE [--wait]",
                                           "apply documents: they become the desired state",
                                           [options] { return apply(*options); });
  command->options("-f,--file", "FILE", options->files,
                   "YAML or JSON; - is standard input; may be repeated");
  command->flag("--wait", options->wait,
                "wait until each record runs at this version or cannot; 60s without --timeout");
  command->flag("--again", options->again,
                "commit unchanged documents, too: agents apply them once more");
  command->flag("--dry-run", options->dry_run, "say what would change, and change nothing");
  add_format(*command, options->format);
  options->server.add_options(*command);
  command->examples(
      {"davit apply -f shop.yaml --dry-run", "davit apply -f shop.yaml --wait --timeout 5m"});
  return command;
}

}  // namespace davit::host
