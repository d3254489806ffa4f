// One pod as the cluster shows it. Reconcile counts and replaces pods by it. Readiness follows the
// later revision of Krane: a container that is not ready is pending, not failed, and dead and
// terminating pods are no instances.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>

namespace davit::deployment {

struct Pod {
  std::string name, ns;
  std::string ip;        // empty: none yet
  std::string hash;      // of the template it was made from; empty: not made by us
  std::string status;    // pending, running or inactive; "failed" and "done" are no instances
  std::string trouble;   // why it cannot become ready; empty: nothing is known
  bool failing = false;  // waiting does not end `trouble`
  bool terminating = false;
  int64_t cpu_millicores = 0, memory_mib = 0;
  // Unix milliseconds by the cluster's clocks; 0: unknown.
  int64_t created_ms = 0;
  int64_t ready_since_ms = 0;
  int64_t ends_ms = 0;  // of a terminating pod: the end of its grace period
  // The kept fields of its containers; points into what was read. NULL: none.
  const boost::json::array* containers = nullptr;
  bool stale = false;  // made of another template than the wanted one; mark_stale sets it

  bool active() const { return !terminating && status != "failed" && status != "done"; }
  bool ready() const { return active() && status == "running"; }
};

// The JSON pointers of what `read_pod` reads, for the watch.
std::vector<std::string> kept_of_pods();

// `object` must outlive the result.
Pod read_pod(const boost::json::value& object);

}  // namespace davit::deployment
