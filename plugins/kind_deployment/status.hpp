// What is said of a deployment: counts, health, and a message for people. Pure.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "observed.hpp"
#include "workload.hpp"

namespace davit::deployment {

// `wanted_hash` of the pod template; the pods' `stale` is set; `waits` says why stale pods are left
// alone, if they are.
boost::json::object status_of(const Workload&, const Observed&, int64_t replicas,
                              const std::string& wanted_hash, const std::string& waits,
                              const Site&);

// Of one that is not wanted.
boost::json::object status_of_deleting(const Observed&, int64_t now_ms, const Site&);

}  // namespace davit::deployment
