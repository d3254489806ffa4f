// An actuator for the tests of its suite. Without the setting `bug` it keeps every rule of its
// role. Each value of the setting breaks one rule, and the suite must fail exactly there.
//
// A cluster is a network and as many machines as providerSpec says: {"provider": "naive",
// "machines": 2, "password": "...", "one_at_a_time": false, "stuck": false}.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <boost/json.hpp>
#include <davit/actuator.hpp>
#include <davit/operation.hpp>
#include <davit/outstanding.hpp>

#include "world.hpp"

namespace davit::actuator_naive {
namespace {

namespace json = boost::json;
using actuator::Call, actuator::Done, actuator::Outcome;

struct Wanted {
  int64_t machines = 0;
  bool one_at_a_time = false, stuck = false;
};

Outcome failed(Error error) {
  Outcome out;
  out.error = std::move(error);
  return out;
}
Error invalid(const std::string& field, const std::string& message) {
  return {Code::invalid_argument, message, "spec.providerSpec.value" + field};
}

const char* providers_status = "\"providerStatus\":";

// The table of the role. Two bugs stand before what the wrapper does.
template <class T>
struct OwnTable {
  static constexpr std::string_view id = DAVIT_ACTUATOR;
  using Slot = void (*)(davit_instance*, const davit_op*, const davit_actuator_call*,
                        davit_actuator_done, void*);
  static const davit_actuator& wrapper() {
    return *static_cast<const davit_actuator*>(actuator::Role::vtable<T>());
  }
  static void serve(Slot slot, davit_instance* i, const davit_op* op,
                    const davit_actuator_call* call, davit_actuator_done done, void* ctx) {
    const T& self = detail::object<T>(i);
    davit_actuator_call own = *call;
    if (self.bug("knows_all_flags")) own.flags = 0;
    const davit_actuator_event event{sizeof event, 0, str("Called"), str("it was called")};
    if (self.bug("is_always_heard")) own.event(own.self, &event);
    slot(i, op, &own, done, ctx);
  }
  template <class>
  static const void* vtable() {
    static const davit_actuator table = {
        sizeof table, 0,
        [](davit_instance* i, const davit_op* op, const davit_actuator_call* call,
           davit_actuator_done done,
           void* ctx) { serve(wrapper().reconcile, i, op, call, done, ctx); },
        [](davit_instance* i, const davit_op* op, const davit_actuator_call* call,
           davit_actuator_done done,
           void* ctx) { serve(wrapper().remove, i, op, call, done, ctx); }};
    return &table;
  }
};

class Naive {
 public:
  using roles = Roles<OwnTable<Naive>>;
  static constexpr uint32_t max_concurrency = 4;
  explicit Naive(Host host)
      : host_(host),
        world_(Settings(host).string("world")),
        bug_(Settings(host).string("bug", "none")) {
    if (const auto made = world_.make(); !made.ok()) throw Failure(made.error());
  }

  bool bug(std::string_view name) const { return bug_ == name; }
  void reconcile(const Op& op, Call call, Done done) {
    serve(op, std::move(call), std::move(done), &Naive::built);
  }
  void remove(const Op& op, Call call, Done done) {
    serve(op, std::move(call), std::move(done), &Naive::removed);
  }
  Result<> stop(const Op& op) {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    return bug("forgets_at_stop") ? Result<>() : open_.wait(host_, op);
  }
  ~Naive() { static_cast<void>(open_.wait(host_, Op())); }

 private:
  using Work = Outcome (Naive::*)(const Op&, const Call&);

  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  void serve(const Op& op, Call call, Done done, Work work) {
    if (!bug("works_after_stop") && stopped()) return done(failed(shutting_down()));
    // The calls of this bug take so long that some are still open at a stop.
    const std::chrono::milliseconds first(bug("forgets_at_stop") ? 50 : 0);
    host_.blocking("", [this, first, op, call = std::move(call), done = std::move(done), work,
                        ticket = open_.begin()] {
      std::this_thread::sleep_for(first);
      answer(op, call, done, work);
    });
  }
  void answer(const Op& op, const Call& call, const Done& done, Work work) {
    std::unique_lock one(one_, std::defer_lock);
    const auto left = std::chrono::nanoseconds(op.deadline_ns()) - host_.now();
    const bool free = !bug("one_at_a_time") || one.try_lock_for(std::min<std::chrono::nanoseconds>(
                                                   left, std::chrono::hours(1)));
    Outcome out =
        free ? (this->*work)(op, call) : failed({Code::deadline_exceeded, "another is at work"});
    if (bug("forgets_fields") && out.error) out.error->where.clear();
    if (bug("shows_all") && out.error) out.error->message += ": " + call.cluster;
    if (bug("logs_all")) host_.info("called", {{"cluster", call.cluster}});
    if (bug("answers_twice")) done(out);
    done(out);
    if (bug("late_events")) call.event({false, "Answered", "the call has been answered"});
  }

  std::optional<Error> over(const Op& op) {
    if (op.cancelled() && !bug("ignores_cancel")) return Error{Code::cancelled, "given up"};
    if (op.deadline_ns() <= host_.now().count() && !bug("ignores_deadline"))
      return Error{Code::deadline_exceeded, "too late"};
    if (stopped() && !bug("works_after_stop")) return shutting_down();
    return std::nullopt;
  }
  // Until somebody ends the call.
  Error wait(const Op& op) {
    const OnCancel woken(op, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    while (true) {
      if (const auto why = over(op)) return *why;
      if (stopped()) return shutting_down();
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(10));
    }
  }

  Result<Wanted> wanted(const Call& call) const;
  Outcome built(const Op& op, const Call& call);
  std::optional<Outcome> believed(const Call& call);
  Outcome removed(const Op& op, const Call& call);
  Result<bool> raise(const Call& call, const std::string& name, const std::string& value,
                     const std::map<std::string, Thing>& there);
  Result<bool> complete(const Call& call, const Wanted& wanted, const std::string& prefix,
                        bool& has_more);
  // What the names of a cluster's things begin with. "_" is in no name of Kubernetes.
  std::string prefix_of(const Call& call) const {
    if (bug("joins_names")) return call.ns + "-" + call.name + "-";
    if (bug("ignores_namespaces")) return call.name + "_";
    if (!bug("ids_in_status")) return call.ns + "_" + call.name + "_";
    const size_t at = call.cluster.find(providers_status);
    const std::string id =
        at == std::string::npos ? std::to_string(host_.random()) : digits(call.cluster.substr(at));
    return call.ns + "_" + call.name + "_" + id + "_";
  }
  static std::string digits(const std::string& text) {
    const size_t at = text.find_first_of("0123456789");
    return text.substr(at, text.find_first_not_of("0123456789", at) - at);
  }
  std::string status_of(const Call& call, const std::string& prefix) {
    if (bug("patches_all")) return R"({"status":{"providerStatus":{}}})";
    if (bug("patches_text")) return "\"built\"";
    json::object status;
    if (bug("ids_in_status"))
      status["id"] = digits(prefix.substr(call.ns.size() + call.name.size() + 2));
    if (bug("churns")) status["calls"] = ++calls_;
    return json::serialize(json::object{
        {"apiEndpoints", json::array{{{"host", call.name + "." + call.ns}, {"port", 6443}}}},
        {"providerStatus", status}});
  }

  Host host_;
  const World world_;
  const std::string bug_;
  std::mutex mutex_;
  std::timed_mutex one_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::atomic<int> calls_{0};
  std::mutex known_mutex_;
  std::set<std::string> known_;  // uids: what some bugs believe to have built
  std::string current_;          // the cluster that another bug is at work on
  Outstanding open_;
};

Result<Wanted> Naive::wanted(const Call& call) const {
  json::error_code bad;
  const json::value cluster =
      bug("trusts_texts") ? json::parse(call.cluster) : json::parse(call.cluster, bad);
  if (bad) {
    const std::string quoted = bug("quotes") ? ": " + call.cluster : "";
    return invalid("", "the cluster is no JSON" + quoted);
  }
  if (bug("knows_all_fields") && call.cluster.find("unknown") != std::string::npos)
    return invalid("", "has a field that is not known");
  const json::value* value = cluster.find_pointer("/spec/providerSpec/value", bad);
  if (value == nullptr || !value->is_object()) return invalid("", "is no object");
  const json::object& o = value->as_object();
  const json::value* provider = o.if_contains("provider");
  if (!bug("any_provider") && (provider == nullptr || *provider != "naive"))
    return Error{Code::unimplemented, "of another provider"};
  Wanted out;
  const json::value* machines = o.if_contains("machines");
  if (machines == nullptr || !machines->is_int64() || machines->as_int64() < 1) {
    if (!bug("takes_anything")) return invalid(".machines", "is no number above 0");
    out.machines = 1;
  } else {
    out.machines = machines->as_int64();
  }
  const auto flag = [&o](const char* key) {
    const json::value* v = o.if_contains(key);
    return v != nullptr && v->is_bool() && v->as_bool();
  };
  out.one_at_a_time = flag("one_at_a_time");
  out.stuck = flag("stuck");
  return out;
}

// Makes the thing, or changes its value. Whether anything was to be done.
Result<bool> Naive::raise(const Call& call, const std::string& name, const std::string& value,
                          const std::map<std::string, Thing>& there) {
  const auto at = there.find(name);
  if (at != there.end() && at->second.uid != call.uid && !bug("adopts"))
    return Error{Code::already_exists, "the name is another cluster's", name};
  if (at == there.end()) {
    auto made = world_.add(name, {bug("claims_later") ? "-" : call.uid, value});
    if (bug("claims_later") && made.ok()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      made = world_.change(name, {call.uid, value});
    }
    if (!made.ok()) return made.error();
    return true;
  }
  if (at->second.uid == call.uid && at->second.value == value) return false;
  const auto changed = world_.change(name, {call.uid, value});
  if (!changed.ok()) return changed.error();
  return true;
}

// One round of what is to be made. `has_more`: machines are left for the next call.
Result<bool> Naive::complete(const Call& call, const Wanted& wanted, const std::string& prefix,
                             bool& has_more) {
  auto there = world_.look(prefix);
  if (!there.ok()) return there.error();
  if (const auto network = there->find(prefix + "a_network");
      bug("never_changes") && network != there->end() && network->second.uid == call.uid &&
      network->second.value == std::to_string(there->size() - 1))
    return false;  // it is whole
  bool did = false;
  std::map<std::string, std::string> parts = {
      {prefix + "a_network", std::to_string(wanted.machines)}};
  for (int64_t i = 0; i < wanted.machines; ++i)
    parts.emplace(prefix + "m" + std::to_string(i), "up");
  has_more = false;
  for (const auto& [name, value] : parts) {
    const auto raised = raise(call, name, value, *there);
    if (!raised.ok()) return raised.error();
    did = did || *raised;
    has_more = wanted.one_at_a_time && *raised && name != parts.rbegin()->first;
    if (has_more) return true;
  }
  for (const auto& [name, thing] : *there) {
    if (parts.contains(name) || thing.uid != call.uid || bug("makes_twice") || bug("only_adds"))
      continue;
    if (const auto gone = world_.remove(name); !gone.ok()) return gone.error();
    did = true;
  }
  if (bug("makes_twice")) {
    const auto more = world_.add(prefix + "x" + std::to_string(host_.random()), {call.uid, "up"});
    if (!more.ok()) return more.error();
  }
  return did;
}

// What some bugs say without a look.
std::optional<Outcome> Naive::believed(const Call& call) {
  const std::lock_guard lock(known_mutex_);
  const bool known = !known_.insert(call.uid).second;
  if (bug("never_looks") && known) return Outcome();
  if (bug("remembers") && !known) {
    // It takes what it does not remember for somebody else's.
    const auto there = world_.look(prefix_of(call));
    if (there.ok() && !there->empty())
      return failed({Code::already_exists, "somebody has built it"});
  }
  return std::nullopt;
}

Outcome Naive::built(const Op& op, const Call& call) {
  if (const auto why = over(op)) return failed(*why);
  const auto wanted = this->wanted(call);
  if (!wanted.ok()) {
    if (bug("tears_down")) removed(op, call);
    return failed(wanted.error());
  }
  if (wanted->stuck) return failed(wait(op));
  if (auto out = believed(call)) return *out;
  std::string prefix = prefix_of(call);
  if (bug("shares_state")) {
    {
      const std::lock_guard lock(known_mutex_);
      current_ = prefix;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(known_mutex_);
    prefix = current_;
  }
  bool has_more = false;
  auto did = complete(call, *wanted, prefix, has_more);
  while (bug("awaits") && did.ok() && has_more) did = complete(call, *wanted, prefix, has_more);
  if (!did.ok()) return failed(did.error());
  Outcome out;
  if (bug("never_ends") && wanted->one_at_a_time) has_more = true;
  if (has_more && !bug("hopes")) {
    if (bug("fails_meanwhile")) return failed({Code::failed_precondition, "it is not ready"});
    out.requeue_after = std::chrono::milliseconds(1);
    out.progress = "machines are made";
  } else {
    out.status_patch = status_of(call, prefix);
  }
  if (*did)
    call.event({false, bug("long_reasons") ? "was changed" : "Changed", "the cluster was changed"});
  return out;
}

Outcome Naive::removed(const Op& op, const Call& call) {
  if (const auto why = over(op)) return failed(*why);
  if (bug("needs_the_spec")) {
    const auto wanted = this->wanted(call);
    if (!wanted.ok()) return failed(wanted.error());
  }
  const std::string prefix = prefix_of(call);
  const auto there = world_.look(prefix);
  if (!there.ok()) return bug("blind") ? Outcome() : failed(there.error());
  if (bug("misses_nothing") && there->empty())
    return failed({Code::not_found, "there is no such cluster"});
  if (bug("defends_names") && !there->empty() && there->begin()->second.uid != call.uid)
    return failed({Code::already_exists, "the name is another cluster's", "metadata.name"});
  // The network is the first of the things.
  const bool has_network = !there->empty() && there->begin()->first == prefix + "a_network";
  if (bug("removes_its_mark_first") && !has_network) return {};
  for (const auto& [name, thing] : *there) {
    if (thing.uid != call.uid && !bug("removes_by_name")) continue;
    if (bug("leaves_network") && name == prefix + "a_network") continue;
    if (const auto gone = world_.remove(name); !gone.ok()) return failed(gone.error());
    if (bug("removes_its_mark_first")) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  const std::lock_guard lock(known_mutex_);
  known_.erase(call.uid);
  return {};
}

}  // namespace
}  // namespace davit::actuator_naive

DAVIT_PLUGIN(davit::actuator_naive::Naive, "actuator_naive", "0.1.0",
             "breaks the rules of actuators, for tests")
