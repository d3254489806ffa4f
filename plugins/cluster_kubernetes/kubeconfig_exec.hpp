// Reads the member `exec` of a kubeconfig's user.
#pragma once

#include "access.hpp"
#include "yaml.hpp"

namespace davit::cluster_kubernetes {

// `cluster`: as the kubeconfig has it; `access`: what was read of it. `directory`: of the file that
// has the user, with a slash at its end. Throws yaml::Fault.
ExecPlugin read_exec(const YAML::Node& exec, const std::string& where, const YAML::Node& cluster,
                     const Access& access, const std::string& directory);

}  // namespace davit::cluster_kubernetes
