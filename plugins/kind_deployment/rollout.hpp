// How far the pods are from what is wanted, and which of the stale ones may go now. A ReplicaSet
// never replaces its pods when its template changes; this does, a bounded number at a time.
#pragma once

#include <string>
#include <vector>

#include "observed.hpp"

namespace davit::deployment {

struct Wanted {
  int64_t replicas = 0;
  std::string hash;  // of the template
};

struct Counts {
  int64_t active = 0;   // all that are neither dead nor terminating
  int64_t updated = 0;  // active, of the wanted template
  int64_t updated_ready = 0;
  int64_t ready = 0;               // of any template
  std::vector<std::string> stale;  // names, active, of another template
};
Counts count(const std::vector<Pod>&, const std::string& hash);

// Names of stale pods to delete now. At most `max_unavailable` places are being replaced at once,
// and never fewer than replicas - max_unavailable pods stay ready; those that are not ready go
// first. A new template whose pods do not become ready therefore costs max_unavailable pods and no
// more.
std::vector<std::string> replace_now(const std::vector<Pod>&, const Wanted&,
                                     int64_t max_unavailable);

}  // namespace davit::deployment
