// The simulated controllers: a ReplicaSet gets its Pods, and a Pod becomes Running and Ready some
// time after it was made. Level-based, like the real ones: what to do follows from the store,
// events only say where to look. Pure; whoever drives it hands over events and the time and asks
// when to come back.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "store.hpp"

namespace davit::cluster_memory {

inline const Collection replica_sets{"apps", "replicasets"};

// Of a ReplicaSet or a Deployment: its spec.replicas, 1 when it says nothing.
int64_t wanted(const boost::json::object&);
// It was deleted, and its finalizers have not let go of it.
bool leaving(const boost::json::object&);

class ReplicaSets {
 public:
  ReplicaSets(Store& store, int64_t pod_ready_ms) : store_(store), pod_ready_ms_(pod_ready_ms) {}

  void observe(const Event& event, int64_t now_ms);
  // Does what is due (which makes new events); when to run again, if nothing happens before.
  std::optional<int64_t> run(int64_t now_ms);

  // From now on the controller takes every ReplicaSet for what it is now and knows no new one, as
  // when its watch of them hangs; pods it sees as they are. Until `catch_up`.
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
  std::optional<std::map<Key, Object>> behind_;  // what it takes the ReplicaSets for
  std::multimap<int64_t, Key> starting_;         // pods by when they become ready
  uint32_t addresses_ = 0;                       // pod addresses given so far
};

}  // namespace davit::cluster_memory
