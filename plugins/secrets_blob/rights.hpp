// The rights that the service needs of the API server: what grants them, and whether the agent's
// account has them.
#pragma once

#include <davit/cluster.hpp>

namespace davit::secrets_blob {

// YAML of a ClusterRole.
std::string cluster_role();

// Asks the API server for each right, and waits for the answers. PERMISSION_DENIED names those that
// are missing. If nobody answers, the cluster's own check says so.
Result<> check_rights(const Host& host, const cluster::Client& cluster,
                      std::chrono::nanoseconds deadline);

}  // namespace davit::secrets_blob
