// The status of a deployment: counts, health, and a message for people. Reconcile returns it. Pure.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "observed.hpp"
#include "workload.hpp"

namespace davit::deployment {

// What people are told beside what the pods say.
struct Remarks {
  std::string waits;       // why stale pods are left alone; empty: they are not
  std::string controller;  // what becomes of the controllers
};

// `wanted_hash` is that of the pod template. `stale` of the pods must be set.
boost::json::object status_of(const Workload&, const Observed&, int64_t replicas,
                              const std::string& wanted_hash, const Remarks&, const Site&);

// The status of a deployment that is being deleted.
boost::json::object status_of_deleting(const Observed&, int64_t now_ms, const Site&);

}  // namespace davit::deployment
