// Makes the message that an agent of Krane's gets for a deployment on the ctrl.v1 wire. Such an
// agent refuses a message that breaks one of its rules, and then stops there. So the kind says what
// the agent would refuse in other fields, or does not send the record. The plugin's apply_message
// is this function. Pure.
#pragma once

#include <string>
#include <string_view>

#include "workload.hpp"

namespace davit::deployment {

// The whole message; empty: the stored message is sent as it is. INVALID_ARGUMENT: the message is
// not valid, or ctrl.v1 cannot express it; `where` has the field.
Result<std::string> apply_message(std::string_view apply, const Site& site);

}  // namespace davit::deployment
