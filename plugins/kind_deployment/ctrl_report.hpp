// The kind's ctrl.v1 messages other than the apply message: the delete, and the report in both
// directions. Pure: JSON in, JSON out.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <davit/kind.hpp>

namespace davit::deployment {

std::string delete_message(const Named&);
std::string to_report(const Named&, const Status&);

// Such a report says less than a status. It has no version, no template and no wanted count, so
// desired and updated are the number of instances that it lists.
Result<std::pair<Named, Status>> from_report(std::string_view report);

}  // namespace davit::deployment
