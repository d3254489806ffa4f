// What an agent of Krane's is told of a deployment on the ctrl.v1 wire. It refuses a message that
// breaks one of its rules, and then stops there: what it would refuse is said in other fields, or
// not at all. Pure.
#pragma once

#include <string>
#include <string_view>

#include "workload.hpp"

namespace davit::deployment {

// The whole message, or nothing when it is told as it is. INVALID_ARGUMENT: the message is not
// valid, or that wire cannot say it; `where` has the field.
Result<std::string> apply_message(std::string_view apply, const Site& site);

}  // namespace davit::deployment
