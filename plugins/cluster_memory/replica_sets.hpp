// The simulated ReplicaSet controller and kubelet: a ReplicaSet gets its Pods, and a Pod becomes
// Running and Ready some time after its creation. Level-based, like the real ones: the store
// determines what to do, and events only show where to look. Pure: the caller supplies events and
// the time, and learns when to call again.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "store.hpp"

namespace davit::cluster_memory {

inline const Collection replica_sets{"apps", "replicasets"};

// spec.replicas of a ReplicaSet or a Deployment; 1 if it is not set.
int64_t wanted(const boost::json::object&);
// True if the object was deleted and waits for its finalizers.
bool leaving(const boost::json::object&);

class ReplicaSets {
 public:
  ReplicaSets(Store& store, int64_t pod_ready_ms) : store_(store), pod_ready_ms_(pod_ready_ms) {}

  void observe(const Event& event, int64_t now_ms);
  // Does what is due, which produces new events. Returns when to run again if no event comes
  // before.
  std::optional<int64_t> run(int64_t now_ms);

  // Simulates a hanging watch of ReplicaSets. Until catch_up() the controller sees each ReplicaSet
  // as it is now, and no new ones. It still sees pods as they are.
  void fall_behind();
  void catch_up();

 private:
  Object seen(const Key& key) const;
  void reconcile(const Key& key, int64_t now_ms);
  void scale(const Key& key, const boost::json::object& replica_set, const std::vector<Key>& pods,
             int64_t now_ms);
  void write_status(const Key& key, const boost::json::object& as_seen,
                    const std::vector<Key>& pods, int64_t now_ms);
  void start_pod(const Key& key, int64_t now_ms);
  std::vector<Key> pods_of(const std::string& uid) const;
  boost::json::object make_pod(const Key& key, const boost::json::object& replica_set);

  Store& store_;
  const int64_t pod_ready_ms_;
  std::set<Key> dirty_;
  std::optional<std::map<Key, Object>> behind_;  // the ReplicaSets as the controller sees them
  std::multimap<int64_t, Key> starting_;         // pods by the time at which they become ready
  uint32_t addresses_ = 0;                       // number of pod addresses given so far
};

}  // namespace davit::cluster_memory
