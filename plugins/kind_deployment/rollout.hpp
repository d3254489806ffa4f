// Decides how far the pods are from what is wanted, and which stale pods may be deleted now. A
// ReplicaSet never replaces its pods when its template changes; reconcile does it with this, a
// bounded number at a time. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kubernetes/pod.hpp"

namespace davit::deployment {

using kubernetes::Pod;

struct Counts {
  int64_t active = 0;              // neither dead nor terminating
  int64_t updated = 0;             // active, of the wanted template
  int64_t ready = 0;               // active, of any template
  std::vector<std::string> stale;  // names of active pods of another template
};
Counts count(const std::vector<Pod>&);

struct Pace {
  int64_t now_ms = 0;  // Unix time; 0: unknown, and then nothing waits
  int64_t max_unavailable = 1;
  int64_t min_ready_ms = 0;      // a pod is available once it has been ready for this long
  int64_t replace_after_ms = 0;  // a stale pod that is younger is left alone
};

struct Replacement {
  std::vector<std::string> remove;  // names of stale pods to delete now
  int64_t look_again_ms = 0;        // when time alone changes the answer; 0: never
  std::string waits;                // if no pod may be deleted now: what it waits for, for people
};

// Pods that are not stale and have been ready for min_ready_ms. `look_again_ms`: when time alone
// makes one more of them; 0: never.
struct Available {
  int64_t updated = 0;
  int64_t look_again_ms = 0;
};
Available available_of(const std::vector<Pod>&, const Pace&);

// At most `max_unavailable` places are being replaced at once. At least replicas - max_unavailable
// pods stay ready and available. Pods that are not ready are deleted first. So a new template whose
// pods do not become available costs at most max_unavailable pods.
//
// The controller may be behind and make pods of the older template in the place of deleted ones.
// Such a pod counts as a place that is being replaced until it is `replace_after_ms` old. So no
// more than max_unavailable pods are deleted in that time.
//
// `controllers_ready` is how many ready pods the controller says it has; nullopt: it says nothing.
// Pods and their controller come by two watches. One that the controller has just taken away can
// still be among the pods here. So no more of them count than the lesser of the two numbers.
Replacement replace_now(const std::vector<Pod>&, int64_t replicas, const Pace&,
                        std::optional<int64_t> controllers_ready = std::nullopt);

}  // namespace davit::deployment
