// Reads the conditions in an object's status, and members of objects whose type is not known. The
// readers of pods and ReplicaSets use it. What has an unexpected type counts as absent.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace davit::deployment {

// The text of a member; empty when there is none. `from` may be NULL.
std::string member(const boost::json::object* from, std::string_view key);

// The condition of this type; NULL when there is none.
const boost::json::object* condition(const boost::json::value& object, std::string_view type);
bool is_true(const boost::json::object* condition);
// The condition's reason and message, cut to a readable length: "FailedCreate: pods is forbidden".
std::string saying(const boost::json::object* condition);

}  // namespace davit::deployment
