// The status of a deployment: counts, health, and a message for people. Reconcile returns it. Pure.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "observed.hpp"
#include "workload.hpp"

namespace davit::deployment {

// `wanted_hash` is that of the pod template. `stale` of the pods must be set. `waits` says why
// stale pods are left alone; empty: they are not.
boost::json::object status_of(const Workload&, const Observed&, int64_t replicas,
                              const std::string& wanted_hash, const std::string& waits,
                              const Site&);

// The status of a deployment that is being deleted.
boost::json::object status_of_deleting(const Observed&, int64_t now_ms, const Site&);

}  // namespace davit::deployment
