// Reads what all observed objects have: type, labels, owner, conditions. A value with an unexpected
// type counts as absent, and `object` may be any value. Views point into what was read.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace davit::kubernetes {

// Whether the object is of this kind, in any version of the group. "" is the core group.
bool is(const boost::json::value& object, std::string_view group, std::string_view kind);
// "apps" of "apps/v1"; "" of "v1", which is the core group.
std::string_view group_of(std::string_view api_version);
std::string_view label(const boost::json::value& object, std::string_view name);
bool is_terminating(const boost::json::value& object);
// Whether another object controls it.
bool is_controlled(const boost::json::value& object);
// The name of the apps object of this kind that controls the object; empty: none does.
std::string_view controlling(const boost::json::value& object, std::string_view kind);
inline std::string_view controlling_replica_set(const boost::json::value& object) {
  return controlling(object, "ReplicaSet");
}
// The name of the pod's Deployment, by the pod's ReplicaSet; empty: none.
std::string_view deployment_of(const boost::json::value& pod);
// The name of the StatefulSet that made the pod, also when it is gone; empty: none did.
std::string_view stateful_set_of(const boost::json::value& pod);
// Whether the controller has acted on the object's present spec.
bool is_seen(const boost::json::value& object);

// The condition of this type; NULL when there is none.
const boost::json::object* condition(const boost::json::value& object, std::string_view type);
// Whether the object has the condition with this status: "True", "False" or "Unknown".
bool says(const boost::json::value& object, std::string_view type, std::string_view status);
// The condition's reason and message, cut to a readable length: "FailedCreate: pods is forbidden".
// Empty when there is no such condition, or it gives neither.
std::string saying(const boost::json::value& object, std::string_view type);

// Whether a Secret's data may have this key (ValidateSecret of Kubernetes).
bool is_data_key(std::string_view key);

// Why Cilium ignores a policy: "not valid: no such port". Empty: it does not, or has not said.
// Cilium checks more than the schema of its CRD can, and reports the result in a condition.
std::string fault_of_policy(const boost::json::value& policy);

}  // namespace davit::kubernetes
