#include "access.hpp"

namespace davit::cluster_kubernetes {

Result<Access> in_cluster_access(const Environment& environment, const ReadFile& read) {
  static const std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount/";
  std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Error{Code::failed_precondition,
                 "in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
                 "this is not a pod"};
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";  // IPv6
  Access access;
  access.source = "in-cluster";
  access.url = "https://" + host + ":" + port;
  auto ca = read(directory + "ca.crt");
  if (!ca.ok()) return ca.error().in("in-cluster");
  access.ca = ca->view();
  access.files = {directory + "ca.crt"};
  access.token_file = directory + "token";
  if (auto token = read(access.token_file); !token.ok()) return token.error().in("in-cluster");
  return access;
}

}  // namespace davit::cluster_kubernetes
