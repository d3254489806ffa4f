// Installs the CustomResourceDefinition of Clusters in a cluster.
#pragma once

#include <davit/cluster.hpp>

namespace davit::clusters {

// Applies the definition, and waits until the API server serves Clusters. Blocks. Returns a line
// for people.
Result<std::string> install_definition(const Host& host, const cluster::Client& cluster,
                                       const Op& op);

}  // namespace davit::clusters
