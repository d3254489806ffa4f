// How far the pods are from what is wanted, and which of the stale ones may go now. A ReplicaSet
// never replaces its pods when its template changes; this does, a bounded number at a time. Pure.
#pragma once

#include <string>
#include <vector>

#include "pod.hpp"

namespace davit::deployment {

struct Counts {
  int64_t active = 0;              // all that are neither dead nor terminating
  int64_t updated = 0;             // active, of the wanted template
  int64_t ready = 0;               // of any template
  std::vector<std::string> stale;  // names, active, of another template
};
Counts count(const std::vector<Pod>&);

struct Pace {
  int64_t now_ms = 0;  // Unix time; 0: unknown, and nothing waits for time
  int64_t max_unavailable = 1;
  int64_t min_ready_ms = 0;      // a pod is available once it has been ready for so long
  int64_t replace_after_ms = 0;  // a stale pod that is younger is left alone
};

struct Replacement {
  std::vector<std::string> remove;  // names of stale pods to delete now
  int64_t look_again_ms = 0;        // when time alone changes the answer; 0: it does not
  std::string waits;                // for what, when none may go for now, for people
};

// At most `max_unavailable` places are being replaced at once, and never fewer than replicas -
// max_unavailable pods stay ready, and available; those that are not ready go first. A new template
// whose pods do not become available therefore costs max_unavailable pods and no more.
//
// The controller may be behind and make pods of the older template in the place of those that were
// deleted. Such a pod is young: it counts as a place that is being replaced until it is
// `replace_after_ms` old, so that no more than max_unavailable pods go in that time.
Replacement replace_now(const std::vector<Pod>&, int64_t replicas, const Pace&);

}  // namespace davit::deployment
