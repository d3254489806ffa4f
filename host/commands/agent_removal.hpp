// Takes an agent that `davit agent manifests` describes out of its cluster, by kubectl.
#pragma once

#include <string>

#include "kubectl.hpp"

namespace davit::host {

// Deletes its Deployment. The pods that are still there; empty: it has ended.
Result<std::string> end_agent(const Kubectl& kubectl, const std::string& name,
                              const std::string& ns);
// Deletes all else of it, and its namespace.
Result<> remove_agent_objects(const Kubectl& kubectl, const std::string& name,
                              const std::string& ns);
// What does both, for people: lines of a shell.
std::string agent_removal_commands(const std::string& name, const std::string& ns);

}  // namespace davit::host
