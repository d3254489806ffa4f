// The kind's messages on the ctrl.v1 wire that are not the apply message: delete, and report both
// ways.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <davit/kind.hpp>

namespace davit::sentinel {

std::string delete_message(const Named&);

// On that wire a sentinel is healthy as soon as one replica is available, and one that is gone is
// unhealthy with none.
std::string to_report(const Named&, const Status&);

// Such a report names the sentinel by name alone and knows one count, so desired and updated are
// taken to be what is available.
Result<std::pair<Named, Status>> from_report(std::string_view report);

}  // namespace davit::sentinel
