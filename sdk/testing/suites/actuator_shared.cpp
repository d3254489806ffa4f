#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "actuator.hpp"

namespace davit::conformance {
namespace {

using std::chrono::milliseconds;

std::string quoted(const std::string& text) {
  return json::serialize(json::value(text));
}

// RFC 7386, as the caller of actuators patches a status.
void merge_patch(json::value& target, const json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  for (const auto& [key, value] : patch.as_object()) {
    if (value.is_null()) {
      target.as_object().erase(key);
    } else {
      merge_patch(target.as_object()[key], value);
    }
  }
}

// How long the caller waits before the next call: as long as it is asked to, and a second at most.
milliseconds pause_after(const actuator::Outcome& outcome) {
  const milliseconds asked = outcome.error ? outcome.error->retry_after : outcome.requeue_after;
  return std::clamp(asked, milliseconds(1), milliseconds(1000));
}

std::string hex(uint64_t number, int digits) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(number));
  return std::string(out, 16).substr(16 - static_cast<size_t>(digits));
}

std::string new_uid() {
  const uint64_t a = random_seed(), b = random_seed();
  return hex(a >> 32, 8) + "-" + hex(a >> 16, 4) + "-4" + hex(a, 3) + "-8" + hex(b >> 48, 3) + "-" +
         hex(b, 12);
}

// Numbers that a double cannot hold, members that nobody knows, and texts of any language.
constexpr const char* more_metadata =
    R"(,"annotations":{"example.com/\u00fc":"\ud83d\ude80 \"{}\"","kubectl.kubernetes.io/last-applied-configuration":"{\"a\":1}\n"},)"
    R"("managedFields":[{"manager":"m","operation":"Apply","fieldsV1":{"f:spec":{".":{}}}}],)"
    R"("ownerReferences":null,"deletionGracePeriodSeconds":0)";
constexpr const char* more_spec =
    R"(,"unknown":{"big":18446744073709551616,"exact":9007199254740993,"low":-9223372036854775808,)"
    R"("small":1e-300,"list":[[[{}]]],"none":null},"paused":false)";

// Throws when a member has not the type that it must have.
ActuatorFile read_actuator_file(const json::object& o) {
  ActuatorFile out;
  const auto text = [](const json::object& from, const char* key) {
    const json::value* v = from.if_contains(key);
    return v == nullptr ? std::string() : json::serialize(*v);
  };
  const auto each = [&o](const char* key, const auto& use) {
    if (const json::value* list = o.if_contains(key))
      for (const json::value& one : list->as_array()) use(one.as_object());
  };
  out.valid = text(o, "valid");
  out.changed = text(o, "changed");
  out.takes_long = text(o, "long");
  out.slow = text(o, "slow");
  out.foreign = text(o, "foreign");
  each("invalid", [&](const json::object& one) {
    out.invalid.push_back({text(one, "value"), std::string(one.at("where").as_string())});
  });
  each("hidden", [&](const json::object& one) {
    out.hidden.push_back({text(one, "value"), std::string(one.at("text").as_string())});
  });
  return out;
}

}  // namespace

ActuatorFile actuator_file() {
  const std::string name = subject().options.string("actuator");
  if (name.empty()) return {};
  const auto folder = subject().config_file.substr(0, subject().config_file.rfind('/') + 1);
  std::ifstream in(name.starts_with('/') ? name : folder + name);
  try {
    return read_actuator_file(
        json::parse(std::string(std::istreambuf_iterator<char>(in), {})).as_object());
  } catch (const std::exception& wrong) {
    ADD_FAILURE() << "conformance.actuator: " << name << ": " << wrong.what();
    return {};
  }
}

std::string AnyCluster::json() const {
  std::string out =
      R"({"apiVersion":"cluster.k8s.io/v1alpha1","kind":"Cluster","metadata":{"name":)";
  out += quoted(name) + R"(,"namespace":)" + quoted(ns) + R"(,"uid":)" + quoted(uid);
  out += R"(,"resourceVersion":"7","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z",)";
  out += R"("finalizers":["cluster.cluster.k8s.io"])";
  if (has_more) out += more_metadata;
  out += R"(},"spec":{"clusterNetwork":{"services":{"cidrBlocks":["10.96.0.0/12"]},)";
  out += R"("pods":{"cidrBlocks":["192.168.0.0/16"]},"serviceDomain":"cluster.local"})";
  if (!value.empty()) out += R"(,"providerSpec":{"value":)" + value + "}";
  if (has_more) out += more_spec;
  return out + R"(},"status":)" + status + "}";
}

void ActuatorCall::begin(davit_ref ref, ActuatorSlot slot, const AnyCluster& cluster,
                         const std::string& text, How how) {
  const davit_actuator_call abi{sizeof abi,
                                how.flags,
                                str(cluster.ns),
                                str(cluster.name),
                                str(cluster.uid),
                                str(text),
                                how.hears_events ? &told : nullptr,
                                this};
  const auto* table = static_cast<const davit_actuator*>(ref.vtable);
  (slot == ActuatorSlot::reconcile ? table->reconcile : table->remove)(ref.self, operation_.abi(),
                                                                       &abi, &answered, this);
}

void ActuatorCall::answered(void* ctx, const davit_actuator_result* r) {
  auto* self = static_cast<ActuatorCall*>(ctx);
  actuator::Outcome out{std::nullopt, milliseconds(r->requeue_after_ms), text(r->status_patch),
                        text(r->error_reason), text(r->progress)};
  if (r->error != nullptr) out.error = davit::take(*r->error, r->error->code);
  const std::lock_guard lock(self->mutex_);
  self->answers_.push_back(std::move(out));
  self->came_.notify_all();
}

void ActuatorCall::told(void* self, const davit_actuator_event* event) {
  auto* call = static_cast<ActuatorCall*>(self);
  const std::lock_guard lock(call->mutex_);
  call->events_.push_back({event->warning != 0, text(event->reason), text(event->message)});
  if (!call->answers_.empty()) ++call->late_;
}

bool ActuatorCall::wait(milliseconds patience) {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, patience, [&] { return !answers_.empty(); });
}
actuator::Outcome ActuatorCall::answer() const {
  const std::lock_guard lock(mutex_);
  return answers_.front();
}
size_t ActuatorCall::answers() const {
  const std::lock_guard lock(mutex_);
  return answers_.size();
}
std::vector<actuator::Event> ActuatorCall::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}
size_t ActuatorCall::late_events() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

std::string words_of(const actuator::Outcome& o) {
  if (o.error)
    return "code " + std::to_string(static_cast<int>(o.error->code)) + " at \"" + o.error->where +
           "\": " + o.error->message;
  if (o.requeue_after.count() == 0) return "done";
  return "to be called again after " + std::to_string(o.requeue_after.count()) + " ms";
}
bool is_done(const actuator::Outcome& o) {
  return !o.error && o.requeue_after.count() == 0;
}

Operation ActuatorCaller::in_time() const {
  return Operation((host_.now() + patience()).count());
}

ActuatorCall& ActuatorCaller::begin(ActuatorSlot slot, const AnyCluster& cluster,
                                    std::optional<Operation> operation, ActuatorCall::How how) {
  ActuatorCall& call = calls_.emplace_back(operation.value_or(Operation()));
  call.begin(ref_, slot, cluster, cluster.json(), how);
  return call;
}

actuator::Outcome ActuatorCaller::wait(ActuatorCall& call) {
  // The instance watches the deadline itself, so what is waited for here is longer.
  if (call.wait(patience() + std::chrono::seconds(5))) return call.answer();
  ADD_FAILURE() << "a call has no answer";
  actuator::Outcome none;
  none.error = Error{Code::unknown, "no answer"};
  return none;
}

actuator::Outcome ActuatorCaller::once(ActuatorSlot slot, AnyCluster& cluster) {
  const auto outcome = wait(begin(slot, cluster, in_time()));
  boost::system::error_code bad;
  const json::value patch = json::parse(outcome.status_patch, bad);
  if (bad || !patch.is_object()) return outcome;
  json::value status = json::parse(cluster.status);
  merge_patch(status, patch);
  cluster.status = json::serialize(status);
  return outcome;
}

actuator::Outcome ActuatorCaller::drive(ActuatorSlot slot, AnyCluster& cluster) {
  const auto late = std::chrono::steady_clock::now() + patience();
  while (true) {
    auto outcome = once(slot, cluster);
    const bool again = outcome.error ? outcome.error->code == Code::unavailable : !is_done(outcome);
    if (!again || std::chrono::steady_clock::now() >= late) return outcome;
    std::this_thread::sleep_for(pause_after(outcome));
  }
}

void Actuator::SetUp() {
  ASSERT_FALSE(file_.valid.empty())
      << "conformance.actuator must name a JSON file with a \"valid\" providerSpec";
  fresh_ = std::make_unique<Fresh>();
  ASSERT_TRUE(fresh_->up().ok()) << why(fresh_->up());
  caller_.emplace(fresh_->instance().ref(DAVIT_ACTUATOR), fresh_->host());
  if (is_configured("inventory")) before_ = things();
}

void Actuator::TearDown() {
  if (!caller_) return;
  if (!fresh_->is_running()) restart();
  if (!fresh_->up().ok()) return;
  for (AnyCluster& one : made_) {
    if (HasFatalFailure()) break;  // what a broken instance has built is left where it is
    caller_->drive(Slot::remove, one);
  }
}

AnyCluster Actuator::cluster(const std::string& value, const std::string& name,
                             const std::string& ns) {
  AnyCluster out;
  out.ns = ns;
  out.uid = new_uid();
  out.name = name.empty() ? "conformance-" + hex(random_seed(), 12) : name;
  out.value = value;
  made_.push_back(out);
  return out;
}

void Actuator::build(AnyCluster& one) {
  const auto outcome = caller_->drive(Slot::reconcile, one);
  ASSERT_TRUE(is_done(outcome)) << one.name << " is not built: " << words_of(outcome);
}

void Actuator::remove(AnyCluster& one) {
  const auto outcome = caller_->drive(Slot::remove, one);
  ASSERT_TRUE(is_done(outcome)) << one.name << " is not removed: " << words_of(outcome);
}

std::string Actuator::run(const std::string& key) const {
  const auto command = subject().options.with("$TMP", fresh_->directory()).string(key);
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "conformance." << key << " cannot be run: " << command;
    return out;
  }
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << "conformance." << key << ": " << command;
  return out;
}

std::vector<std::string> Actuator::things() const {
  std::vector<std::string> all, out;
  std::istringstream lines(run("inventory"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) all.push_back(line);
  std::sort(all.begin(), all.end());
  std::set_difference(all.begin(), all.end(), before_.begin(), before_.end(),
                      std::back_inserter(out));
  return out;
}

size_t Actuator::things_of_one() {
  AnyCluster one = cluster(file_.valid);
  const size_t before = things().size();
  build(one);
  const size_t count = things().size() - before;
  EXPECT_GT(count, 0u) << "conformance.inventory says nothing of a cluster that was built";
  remove(one);
  EXPECT_EQ(things().size(), before) << "something is left of a cluster that was removed";
  return count;
}

void Actuator::restart() {
  fresh_->stop();
  auto next = std::make_unique<Fresh>(*fresh_, TestHost::Time::real);
  ASSERT_TRUE(next->up().ok()) << why(next->up());
  caller_->use(next->instance().ref(DAVIT_ACTUATOR), next->host());
  fresh_ = std::move(next);
}

}  // namespace davit::conformance
