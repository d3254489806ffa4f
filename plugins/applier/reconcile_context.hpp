// ReconcileContext: what all reconciliations of an instance share: the host, the cluster, the
// settings, the counters, and what is known of ensured objects. The hub makes it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_set>

#include <davit/cluster.hpp>
#include <davit/host.hpp>

#include "settings.hpp"

namespace davit::applier {

// Paths of objects that were ensured and need not be read again. All workers share it. Any thread.
class Ensured {
 public:
  bool contains(const std::string& path) const;
  void add(const std::string& path);
  void forget(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> paths_;
};

struct ReconcileContext {
  ReconcileContext(Host h, cluster::Client c, Rules r)
      : host(h), cluster(std::move(c)), rules(std::move(r)) {}
  Host host;
  cluster::Client cluster;
  Rules rules;
  Ensured ensured;
  // No request is sent before this time of the host's clock, in nanoseconds.
  std::atomic<int64_t> paused_until{0};
  Metric applies, skips, deletes, repairs;
};

}  // namespace davit::applier
