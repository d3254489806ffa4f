// The kind's messages on the ctrl.v1 wire that are not the apply message: delete, and report both
// ways.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <davit/kind.hpp>

namespace davit::deployment {

std::string delete_message(const Named&);
std::string to_report(const Named&, const Status&);

// Such a report says less than a status: no version, no template, and no count but that of its
// instances, so desired and updated are taken to be what it lists.
Result<std::pair<Named, Status>> from_report(std::string_view report);

}  // namespace davit::deployment
