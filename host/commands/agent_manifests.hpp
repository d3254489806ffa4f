// The objects of Kubernetes that run an agent in its cluster, with no more rights than its plugins
// need. Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "agent_configuration.hpp"

namespace davit::host {

// In the order in which they are applied: the namespace first, the Deployment last.
std::vector<boost::json::value> agent_manifests(const AgentConfiguration& configuration,
                                                const AgentInstallation& installation);

// What selects all of them but the namespace.
std::string agent_selector(const std::string& name);

// Documents of YAML for `kubectl apply -f -`.
std::string manifests_text(const std::vector<boost::json::value>& manifests);

}  // namespace davit::host
