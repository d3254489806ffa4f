// The status of a Cluster: what the actuators say of it, and what the controller says. Pure.
//
// Beside the fields of v1alpha1 the controller keeps three of its own: `actuator`, the instance
// that has begun the cluster; `observedGeneration`, the generation that was reached last; and
// `conditions`, of the types Ready, Deleting and Paused. errorReason and errorMessage are those of
// the last call, and go with the next success.
#pragma once

#include <string>

#include <boost/json/object.hpp>
#include <davit/types.hpp>

namespace davit::clusters {

namespace json = boost::json;

// What a pass has found.
struct Found {
  enum class Phase {
    building,  // an actuator goes on
    ready,
    paused,
    removing,
  };
  Phase phase = Phase::building;
  std::string message;       // what is waited for, or what failed; empty: there is nothing to say
  std::string error_reason;  // "CreateError"; empty: nothing failed
  std::string actuator;      // that has begun the cluster; empty: none has
};

// In one word of UpperCamelCase, as the reason of a condition: "Building", "Failed".
const char* reason_of(const Found& found);

// The status that says so, made of the one that there was. `cluster` is the whole Cluster, with
// what the actuators have said in its status already.
json::object status_of(const json::object& cluster, const Found& found, int64_t now_unix_ms);

// errorReason of a failure that an actuator gave none for. `exists`: the cluster was ready before.
std::string error_reason_of(Code code, bool removes, bool exists);

// Applies what an actuator says to the status. The members that are the controller's stay as they
// are. INVALID_ARGUMENT: it is no JSON object.
Result<> apply_status_patch(json::object& cluster, std::string_view patch);

bool was_ready(const json::object& cluster);

}  // namespace davit::clusters
