// The simulated Deployment controller. A Deployment gets a ReplicaSet for its present template, and
// rolls over to it within maxSurge and maxUnavailable. A ReplicaSet of an older template is deleted
// when it has no Pods left, so there is no history to roll back to. Level-based and pure, like
// ReplicaSets, which creates the Pods.
#pragma once

#include <set>

#include "store.hpp"

namespace davit::cluster_memory {

class Deployments {
 public:
  explicit Deployments(Store& store) : store_(store) {}

  void observe(const Event& event);
  // Reconciles what events have marked, which produces new events. Nothing here waits for time.
  void run(int64_t now_ms);

 private:
  void reconcile(const Key& key, int64_t now_ms);
  Key present_set(const Key& key, const boost::json::object& deployment, int64_t now_ms);
  void roll(const boost::json::object& deployment, const Key& present, int64_t now_ms);
  void scale(const Key& set, int64_t replicas, int64_t now_ms);
  void write_status(const Key& key, const Key& present, int64_t now_ms);
  std::vector<Key> sets_of(const boost::json::object& deployment) const;

  Store& store_;
  std::set<Key> dirty_;
};

}  // namespace davit::cluster_memory
