#include "replica_sets.hpp"
#include "kubernetes/times.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace davit::cluster_memory {

namespace json = boost::json;

bool leaving(const json::object& object) {
  return at(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

int64_t wanted(const json::object& object) {
  const auto* n = at(object, {"spec", "replicas"});
  return n != nullptr && n->is_int64() ? n->get_int64() : 1;
}

namespace {

const Collection pods{"", "pods"};

bool is_ready(const json::object& pod) {
  const auto* conditions = at(pod, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const auto& c : conditions->get_array()) {
    if (c.is_object() && string_at(c.get_object(), {"type"}) == "Ready") {
      return string_at(c.get_object(), {"status"}) == "True";
    }
  }
  return false;
}

json::object condition(std::string_view type, const std::string& since) {
  return {{"type", type},
          {"status", "True"},
          {"lastProbeTime", nullptr},
          {"lastTransitionTime", since}};
}

// 10.1.0.1, 10.1.0.2, ... within 10.1.0.0/16, starting again after 65,534 addresses.
std::string pod_address(uint32_t count) {
  const uint32_t n = count % 65534 + 1;
  return "10.1." + std::to_string(n >> 8) + "." + std::to_string(n & 255);
}

json::array container_statuses(const json::object& pod, const std::string& since) {
  json::array out;
  const auto* containers = at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return out;
  for (const auto& c : containers->get_array()) {
    if (!c.is_object()) continue;
    const auto image = string_at(c.get_object(), {"image"});
    out.push_back({{"name", string_at(c.get_object(), {"name"})},
                   {"image", image},
                   {"imageID", image},
                   {"ready", true},
                   {"started", true},
                   {"restartCount", 0},
                   {"state", {{"running", {{"startedAt", since}}}}}});
  }
  return out;
}

}  // namespace

void ReplicaSets::observe(const Event& event, int64_t now_ms) {
  if (event.key.collection == replica_sets && event.after != nullptr) dirty_.insert(event.key);
  if (event.key.collection != pods) return;
  const auto& pod = event.after != nullptr ? *event.after : *event.before;
  if (event.before == nullptr) starting_.emplace(now_ms + pod_ready_ms_, event.key);
  const auto* owners = at(pod, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const auto& o : owners->get_array()) {
    if (!o.is_object() || string_at(o.get_object(), {"kind"}) != "ReplicaSet") continue;
    dirty_.insert({replica_sets, event.key.ns, std::string(string_at(o.get_object(), {"name"}))});
  }
}

std::optional<int64_t> ReplicaSets::run(int64_t now_ms) {
  while (!starting_.empty() && starting_.begin()->first <= now_ms) {
    const Key key = starting_.begin()->second;
    starting_.erase(starting_.begin());
    start_pod(key, now_ms);
  }
  for (const Key& key : std::exchange(dirty_, {})) reconcile(key, now_ms);
  if (starting_.empty()) return std::nullopt;
  return starting_.begin()->first;
}

void ReplicaSets::fall_behind() {
  auto& known = behind_.emplace();
  for (const Object& o : store_.list(replica_sets, "")) {
    known[{replica_sets, std::string(string_at(*o, {"metadata", "namespace"})),
           std::string(string_at(*o, {"metadata", "name"}))}] = o;
  }
}

void ReplicaSets::catch_up() {
  behind_.reset();
  for (const Object& o : store_.list(replica_sets, "")) {
    dirty_.insert({replica_sets, std::string(string_at(*o, {"metadata", "namespace"})),
                   std::string(string_at(*o, {"metadata", "name"}))});
  }
}

Object ReplicaSets::seen(const Key& key) const {
  const Object now = store_.find(key);
  if (now == nullptr || !behind_) return now;
  const auto known = behind_->find(key);
  return known == behind_->end() ? nullptr : known->second;
}

std::vector<Key> ReplicaSets::pods_of(const std::string& uid) const {
  std::vector<Key> out;
  for (Key& key : store_.dependents(uid)) {
    if (key.collection != pods) continue;
    const Object pod = store_.find(key);
    if (pod != nullptr && !leaving(*pod)) out.push_back(std::move(key));
  }
  return out;
}

void ReplicaSets::reconcile(const Key& key, int64_t now_ms) {
  const Object replica_set = seen(key);
  if (replica_set == nullptr) return;
  const std::string uid(string_at(*replica_set, {"metadata", "uid"}));
  if (!leaving(*replica_set)) scale(key, *replica_set, pods_of(uid), now_ms);
  write_status(key, *replica_set, pods_of(uid), now_ms);
}

void ReplicaSets::scale(const Key& key, const json::object& replica_set,
                        const std::vector<Key>& have, int64_t now_ms) {
  const int64_t want = wanted(replica_set);
  for (int64_t n = static_cast<int64_t>(have.size()); n < want; ++n) {
    json::object pod = make_pod(key, replica_set);
    const Key pod_key{pods, key.ns, std::string(string_at(pod, {"metadata", "name"}))};
    if (store_.find(pod_key) == nullptr) store_.add(pod_key, std::move(pod), now_ms);
  }
  if (static_cast<int64_t>(have.size()) <= want) return;
  // Pods that are not ready go first, as with the real controller.
  std::vector<Key> surplus = have;
  std::stable_sort(surplus.begin(), surplus.end(), [&](const Key& a, const Key& b) {
    return is_ready(*store_.find(a)) < is_ready(*store_.find(b));
  });
  surplus.resize(have.size() - static_cast<size_t>(want));
  for (const Key& pod : surplus) store_.remove(pod, false, now_ms);
}

json::object ReplicaSets::make_pod(const Key& key, const json::object& replica_set) {
  static constexpr size_t base_limit = 58;  // of 63 characters; the suffix has five
  const std::string prefix = key.name + "-";
  const auto* labels = object_at(replica_set, {"spec", "template", "metadata", "labels"});
  const auto* annotations = object_at(replica_set, {"spec", "template", "metadata", "annotations"});
  const auto* spec = object_at(replica_set, {"spec", "template", "spec"});
  json::object meta = {{"name", prefix.substr(0, base_limit) + make_suffix(store_.random())},
                       {"generateName", prefix},
                       {"namespace", key.ns},
                       {"ownerReferences",
                        {{{"apiVersion", "apps/v1"},
                          {"kind", "ReplicaSet"},
                          {"name", key.name},
                          {"uid", string_at(replica_set, {"metadata", "uid"})},
                          {"controller", true},
                          {"blockOwnerDeletion", true}}}}};
  if (labels != nullptr) meta["labels"] = *labels;
  if (annotations != nullptr) meta["annotations"] = *annotations;
  json::object pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}};
  pod["spec"] = spec == nullptr ? json::object{} : *spec;
  pod["spec"].get_object()["nodeName"] = "memory-0";
  pod["status"] = {{"phase", "Pending"}};
  return pod;
}

void ReplicaSets::start_pod(const Key& key, int64_t now_ms) {
  const Object found = store_.find(key);
  // If another client has written the status, it is left alone.
  if (found == nullptr || leaving(*found) ||
      (at(*found, {"status", "phase"}) != nullptr &&
       string_at(*found, {"status", "phase"}) != "Pending")) {
    return;
  }
  json::object pod = *found;
  const std::string since = kubernetes::time_text(now_ms);
  const std::string address = pod_address(addresses_++);
  pod["status"] = {{"phase", "Running"},
                   {"hostIP", "10.0.0.2"},
                   {"podIP", address},
                   {"podIPs", {{{"ip", address}}}},
                   {"startTime", since},
                   {"conditions",
                    {condition("Initialized", since), condition("Ready", since),
                     condition("ContainersReady", since), condition("PodScheduled", since)}},
                   {"containerStatuses", container_statuses(pod, since)}};
  store_.replace(key, std::move(pod), now_ms);
}

void ReplicaSets::write_status(const Key& key, const json::object& as_seen,
                               const std::vector<Key>& have, int64_t now_ms) {
  const Object found = store_.find(key);
  if (found == nullptr) return;
  const auto* labels = object_at(*found, {"spec", "template", "metadata", "labels"});
  int64_t ready = 0;
  int64_t labelled = 0;
  for (const Key& pod_key : have) {
    const Object pod = store_.find(pod_key);
    ready += is_ready(*pod) ? 1 : 0;
    const auto* own = object_at(*pod, {"metadata", "labels"});
    labelled +=
        labels == nullptr || std::all_of(labels->begin(), labels->end(), [&](const auto& l) {
          const auto* v = own == nullptr ? nullptr : own->if_contains(l.key());
          return v != nullptr && *v == l.value();
        });
  }
  json::object status = {{"replicas", static_cast<int64_t>(have.size())},
                         {"observedGeneration", *at(as_seen, {"metadata", "generation"})}};
  // The API omits these when they are zero.
  if (labelled > 0) status["fullyLabeledReplicas"] = labelled;
  if (ready > 0) status["readyReplicas"] = ready;
  if (ready > 0) status["availableReplicas"] = ready;
  const auto* old = object_at(*found, {"status"});
  if (old != nullptr && *old == status) return;
  json::object copy = *found;
  copy["status"] = std::move(status);
  store_.replace(key, std::move(copy), now_ms);
}

}  // namespace davit::cluster_memory
