// The configuration of an agent that is to run as a pod: the files that the operator gives, as they
// are, and one generated file behind them that says what is different in a pod. agent_manifests.hpp
// puts it into objects of Kubernetes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

namespace davit::host {

// What whoever installs an agent chooses. An empty text: what the configuration says.
struct AgentInstallation {
  std::string name = "davit-agent";
  std::string ns = "davit-system";  // of its own: it goes with the agent
  std::string image = "davit:" DAVIT_VERSION;
  std::string token;         // the agent's, in a Secret that is made; or
  std::string token_secret;  // a Secret that is there, with the token as `token`
  std::string region, url;
  std::string ca_file;      // on this machine: whom the agent trusts as its server
  int metrics_port = 9100;  // 0: neither metrics nor probes
};

// Where things are in the pod.
inline constexpr const char* pod_configuration_dir = "/etc/davit";
inline constexpr const char* pod_token_dir = "/etc/davit-token";
inline constexpr const char* pod_state_dir = "/var/lib/davit";
inline constexpr const char* pod_ca_file = "/etc/davit/ca.crt";

struct AgentConfiguration {
  // Name and content, in the order in which davit reads them; the generated one is the last.
  std::vector<std::pair<std::string, std::string>> files;
  std::string ca;                          // of ca_file; empty: none
  std::string region;                      // of the agent
  std::vector<boost::json::value> rights;  // Roles and ClusterRoles, as `davit check --rights`
  int grace_seconds = 30;                  // what the agent needs to end
};

// Reads the files and asks their plugins for the rights that they need. Contacts nobody, and needs
// neither a cluster nor a kubeconfig nor the agent's token on this machine. INVALID_ARGUMENT says
// what is wrong, perhaps in several lines.
Result<AgentConfiguration> read_agent_configuration(const std::vector<std::string>& files,
                                                    const AgentInstallation& installation);

}  // namespace davit::host
