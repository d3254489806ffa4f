// Translates a request of the cluster role into the HTTP request line and headers. Pure.
#pragma once

#include <davit/cluster.hpp>

namespace davit::cluster_kubernetes {

struct Target {
  std::string method;        // "PATCH"
  std::string path;          // "/apis/apps/v1/namespaces/default/replicasets/web?force=true"
  std::string content_type;  // of the body; empty: there is no body
};

// INVALID_ARGUMENT: an unknown verb, or a name that would change the path.
Result<Target> address(const cluster::Request& request);
// "/api/v1/pods" or "/apis/apps/v1/namespaces/x/replicasets"
Result<std::string> collection_path(const cluster::Resource& resource, std::string_view ns);
std::string escaped(std::string_view text);
// "?a=b&c=d"; "" if the query is empty.
std::string query_string(const Pairs& query);

}  // namespace davit::cluster_kubernetes
