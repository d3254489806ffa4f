// The status of a record: counts of its objects, and what is wrong with those that are not healthy.
// Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "health.hpp"

namespace davit::manifest {

struct Judged {
  std::string what;  // "Deployment/web"
  Health health;
};

// `judged`: of each object of the record. `stale`: objects that are there and no longer wanted.
boost::json::object status_of(std::vector<Judged> judged, int64_t stale);

}  // namespace davit::manifest
