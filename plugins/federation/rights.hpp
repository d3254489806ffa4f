// The rights that federation needs in both clusters. Pure.
#pragma once

#include <string>
#include <vector>

#include "kubernetes/rights.hpp"
#include "settings.hpp"

namespace davit::federation {

struct NeededRight {
  EndOf end;
  kubernetes::Right right;
  bool optional = false;  // without it less is checked, and nothing else fails
};

// Whatever takes part: to see the definitions, to tell the clusters apart, and to claim the robot's
// name.
std::vector<NeededRight> common_rights(const Configuration& configuration);
// For one resource, in one namespace or in all.
std::vector<NeededRight> rights_of(const Rules& rules, const std::string& ns);

// The roles for both clusters, as YAML. What annotations of definitions add is not among them.
std::string roles_of(const Configuration& configuration);

}  // namespace davit::federation
