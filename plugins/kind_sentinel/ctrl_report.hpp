// The kind's ctrl.v1 messages other than the apply message: the delete, and the report in both
// directions. Pure: JSON in, JSON out.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <davit/kind.hpp>

namespace davit::sentinel {

std::string delete_message(const Named&);

// On ctrl.v1 a sentinel is healthy as soon as one replica is available. A sentinel that is gone is
// unhealthy with no replicas.
std::string to_report(const Named&, const Status&);

// Such a report names the sentinel by name only and has one count. So desired and updated are the
// number of available replicas.
Result<std::pair<Named, Status>> from_report(std::string_view report);

}  // namespace davit::sentinel
