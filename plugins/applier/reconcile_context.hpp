// ReconcileContext: what all reconciliations of an instance share: the host, the cluster, the
// settings, the counters, and what is known of ensured objects. The hub makes it.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include <davit/cluster.hpp>
#include <davit/host.hpp>
#include <davit/secrets.hpp>

#include "settings.hpp"

namespace davit::applier {

// Paths of objects that were ensured and need not be read again. All workers share it. A path that
// nobody has asked for between two turns is forgotten at the second one. The hub makes a turn with
// each resync, in which every live record asks for its own. So what is kept is bounded by the live
// records. Any thread.
class Ensured {
 public:
  explicit Ensured(size_t recent_max = 50'000) : recent_max_(recent_max) {}

  bool contains(const std::string& path);
  void add(const std::string& path);
  void forget(const std::string& path);
  void turn();
  size_t size() const;

 private:
  void remember(std::string path);  // under the mutex

  const size_t recent_max_;  // so many in one interval make a turn of their own
  mutable std::mutex mutex_;
  std::unordered_set<std::string> recent_;  // asked for or added since the last turn
  std::unordered_set<std::string> older_;   // not since then, but in the interval before
};

struct ReconcileContext {
  ReconcileContext(Host h, cluster::Client c, std::optional<secrets::Client> s, Rules r)
      : host(h), cluster(std::move(c)), secrets(std::move(s)), rules(std::move(r)) {}
  Host host;
  cluster::Client cluster;
  const std::optional<secrets::Client> secrets;
  Operations resolving;  // calls of `secrets`; stop cancels them
  Rules rules;
  Ensured ensured;
  // No request is sent before this time of the host's clock, in nanoseconds.
  std::atomic<int64_t> paused_until{0};
  Metric applies, skips, deletes, repairs;
};

}  // namespace davit::applier
