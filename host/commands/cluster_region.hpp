// Makes a region of a Cluster that is up, and gives it up when the Cluster goes. What is done is in
// the files of RegionFolder, in the server and in the cluster: each call looks there, does what is
// missing, and may be killed between any two steps.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actuator_program.hpp"
#include "agent_configuration.hpp"
#include "operator_client.hpp"
#include "region_folder.hpp"
#include "token_client.hpp"

namespace davit::host {

class Kubectl;

struct RegionSettings {
  std::vector<std::string> files;  // the agents' configuration
  AgentInstallation installation;
  ServerAddress server;  // its operator's API
  // One of them. The server's agent_tokens_dir, where tokens are made and removed; or a folder for
  // this program's own notes, and then the server makes and removes the tokens.
  std::string tokens_dir, notes_dir;
  std::string listener;  // of the server, that has the tokens; may be empty
  std::string kubectl = "kubectl";
  std::string kubeconfig_at = "/status/providerStatus/kubeconfig";  // in the Cluster
  std::chrono::milliseconds drain{600'000};  // for an agent at work to remove what there is
  std::chrono::milliseconds agent{60'000};   // for one that is away, or does not end
};

class ClusterRegion {
 public:
  explicit ClusterRegion(const RegionSettings& settings)
      : settings_(settings),
        folder_(settings.tokens_dir.empty() ? settings.notes_dir : settings.tokens_dir) {}

  ActuatorAnswer join(const ActuatorRequest& request);
  // Succeeds at once for a Cluster that no region was made of.
  ActuatorAnswer leave(const ActuatorRequest& request);

 private:
  using Events = std::vector<ActuatorEvent>;

  // --- cluster_region_join.cpp
  static std::string maker_of(const ActuatorRequest& request);
  Result<std::string> token(const ActuatorRequest& request, const std::string& region) const;
  Result<> withdraw_token(const ActuatorRequest& request, const std::string& region) const;
  Result<RegionOwner> claim(const ActuatorRequest& request, const std::string& region);
  Result<> require_same_region(const ActuatorRequest& request, const std::string& region) const;
  ActuatorAnswer await_agent(const Kubectl& kubectl, const std::string& region, RegionOwner owner);
  // --- cluster_region_leave.cpp. Each step answers what is to be waited for, or is done.
  ActuatorAnswer leave(const ActuatorRequest& request, const std::string& region,
                       RegionOwner& owner);
  ActuatorAnswer drain(OperatorClient& client, const std::string& region, RegionOwner& owner);
  ActuatorAnswer remove_agent(const ActuatorRequest& request, const std::string& region,
                              RegionOwner& owner);
  void warn(const std::string& reason, const std::string& message);

  RegionSettings settings_;
  RegionFolder folder_;
  Events events_;
};

}  // namespace davit::host
