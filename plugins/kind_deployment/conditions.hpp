// The conditions in an object's status, and members of objects whose type is not known. What is not
// as expected counts as absent.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace davit::deployment {

// A member's text; empty when there is none. `from` may be NULL.
std::string member(const boost::json::object* from, std::string_view key);

// The condition of that type; NULL when there is none.
const boost::json::object* condition(const boost::json::value& object, std::string_view type);
bool is_true(const boost::json::object* condition);
// "FailedCreate: pods is forbidden": what a condition says, cut to a readable length.
std::string saying(const boost::json::object* condition);

}  // namespace davit::deployment
