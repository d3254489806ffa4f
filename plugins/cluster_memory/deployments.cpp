#include "deployments.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <davit/short_hash.hpp>

#include "replica_sets.hpp"

namespace davit::cluster_memory {
namespace {

namespace json = boost::json;

const Collection deployments{"apps", "deployments"};
constexpr const char* hash_label = "pod-template-hash";

int64_t count(const json::object& object, std::initializer_list<std::string_view> path,
              int64_t fallback = 0) {
  const auto* v = at(object, path);
  return v != nullptr && v->is_int64() ? v->get_int64() : fallback;
}

// Reads maxSurge or maxUnavailable: a number, or a share of the replicas ("25%", the default). A
// share is rounded up for maxSurge and down for maxUnavailable.
int64_t allowance(const json::object& deployment, std::string_view name, bool up) {
  const std::initializer_list<std::string_view> path{"spec", "strategy", "rollingUpdate", name};
  const auto* v = at(deployment, path);
  if (v != nullptr && v->is_int64()) return v->get_int64();
  std::string_view text = string_at(deployment, path);
  if (text.empty()) text = "25%";
  int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size(), percent);
  return (wanted(deployment) * percent + (up ? 99 : 0)) / 100;
}

// The Pods that a ReplicaSet has and will keep. Its status may be from before it was scaled down.
int64_t serving(const json::object& set) {
  return std::min(wanted(set), count(set, {"status", "availableReplicas"}));
}

}  // namespace

void Deployments::observe(const Event& event) {
  if (event.key.collection == deployments && event.after != nullptr) dirty_.insert(event.key);
  if (event.key.collection != replica_sets) return;
  const auto& set = event.after != nullptr ? *event.after : *event.before;
  const auto* owners = at(set, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const auto& o : owners->get_array()) {
    if (!o.is_object() || string_at(o.get_object(), {"kind"}) != "Deployment") continue;
    dirty_.insert({deployments, event.key.ns, std::string(string_at(o.get_object(), {"name"}))});
  }
}

void Deployments::run(int64_t now_ms) {
  for (const Key& key : std::exchange(dirty_, {})) reconcile(key, now_ms);
}

std::vector<Key> Deployments::sets_of(const json::object& deployment) const {
  std::vector<Key> out;
  for (Key& key : store_.dependents(std::string(string_at(deployment, {"metadata", "uid"})))) {
    if (key.collection == replica_sets && !leaving(*store_.find(key)))
      out.push_back(std::move(key));
  }
  return out;
}

void Deployments::reconcile(const Key& key, int64_t now_ms) {
  const Object deployment = store_.find(key);
  if (deployment == nullptr || leaving(*deployment)) return;
  if (object_at(*deployment, {"spec", "template"}) == nullptr) return;
  const Key present = present_set(key, *deployment, now_ms);
  roll(*deployment, present, now_ms);
  write_status(key, present, now_ms);
}

// The ReplicaSet of the present template. It is created, without Pods, if it does not exist.
Key Deployments::present_set(const Key& key, const json::object& deployment, int64_t now_ms) {
  json::object pod_template = *object_at(deployment, {"spec", "template"});
  const std::string hash = short_hash(json::serialize(pod_template)).substr(0, 10);
  Key set{replica_sets, key.ns, key.name + "-" + hash};
  if (store_.find(set) != nullptr) return set;
  json::object& labels = object_in(object_in(pod_template, "metadata"), "labels");
  labels[hash_label] = hash;
  const auto* chosen = object_at(deployment, {"spec", "selector", "matchLabels"});
  json::object match = chosen == nullptr ? json::object{} : *chosen;
  match[hash_label] = hash;
  json::object owner{{"apiVersion", "apps/v1"}, {"kind", "Deployment"},
                     {"name", key.name},        {"uid", string_at(deployment, {"metadata", "uid"})},
                     {"controller", true},      {"blockOwnerDeletion", true}};
  json::object meta{{"name", set.name}, {"namespace", key.ns}, {"labels", labels}};
  meta["ownerReferences"].emplace_array().push_back(std::move(owner));
  json::object spec{{"replicas", 0}, {"selector", {{"matchLabels", std::move(match)}}}};
  spec["template"] = std::move(pod_template);
  store_.add(set,
             {{"apiVersion", "apps/v1"},
              {"kind", "ReplicaSet"},
              {"metadata", std::move(meta)},
              {"spec", std::move(spec)}},
             now_ms);
  return set;
}

// One step: scales the present ReplicaSet up as far as the surge allows, and the older ones down as
// far as the available Pods allow. The events of this step cause the next one.
void Deployments::roll(const json::object& deployment, const Key& present, int64_t now_ms) {
  const int64_t want = wanted(deployment);
  std::vector<Key> older;
  int64_t others = 0, available = 0;
  for (const Key& set : sets_of(deployment)) {
    available += serving(*store_.find(set));
    if (set == present) continue;
    others += wanted(*store_.find(set));
    older.push_back(set);
  }
  const int64_t room = want + allowance(deployment, "maxSurge", true) - others;
  const int64_t now = wanted(*store_.find(present));
  scale(present, std::min(want, std::max(room, std::min(now, want))), now_ms);

  const int64_t least = want - allowance(deployment, "maxUnavailable", false);
  for (const Key& set : older) {
    const json::object& old = *store_.find(set);
    const int64_t have = wanted(old);
    const int64_t idle = have - serving(old);  // Pods that are not available may go at any time
    const int64_t spare = std::min(have, idle + std::max<int64_t>(0, available - least));
    available -= spare - idle;
    if (have == 0 && count(old, {"status", "replicas"}) == 0) {
      store_.remove(set, false, now_ms);
    } else {
      scale(set, have - spare, now_ms);
    }
  }
}

void Deployments::scale(const Key& key, int64_t replicas, int64_t now_ms) {
  const Object found = store_.find(key);
  if (wanted(*found) == replicas) return;
  json::object copy = *found;
  object_in(copy, "spec")["replicas"] = replicas;
  store_.replace(key, std::move(copy), now_ms);
}

void Deployments::write_status(const Key& key, const Key& present, int64_t now_ms) {
  const Object found = store_.find(key);
  int64_t replicas = 0, ready = 0, available = 0;
  for (const Key& set : sets_of(*found)) {
    const Object s = store_.find(set);
    replicas += count(*s, {"status", "replicas"});
    ready += count(*s, {"status", "readyReplicas"});
    available += count(*s, {"status", "availableReplicas"});
  }
  json::object status{{"observedGeneration", *at(*found, {"metadata", "generation"})}};
  // The API omits these when they are zero.
  auto add = [&](const char* name, int64_t n) {
    if (n > 0) status[name] = n;
  };
  add("replicas", replicas);
  add("updatedReplicas", count(*store_.find(present), {"status", "replicas"}));
  add("readyReplicas", ready);
  add("availableReplicas", available);
  add("unavailableReplicas", std::max<int64_t>(0, wanted(*found) - available));
  const auto* old = object_at(*found, {"status"});
  if (old != nullptr && *old == status) return;
  json::object copy = *found;
  copy["status"] = std::move(status);
  store_.replace(key, std::move(copy), now_ms);
}

}  // namespace davit::cluster_memory
