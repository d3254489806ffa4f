#include "agent_manifests.hpp"
#include "cluster_region.hpp"
#include "kubectl.hpp"
#include "output.hpp"
#include "region_server.hpp"
#include "rpc/agent_token_files.hpp"
#include "text_table.hpp"

namespace davit::host {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds until_next_look{2'000};
constexpr const char* annotation = "/metadata/annotations/davit.dev~1region";

// Of the annotation, else the Cluster's name.
Result<std::string> region_of(const ActuatorRequest& request) {
  const std::string annotated = request.text_at(annotation);
  const std::string region = annotated.empty() ? request.name : annotated;
  const std::string fault = folder_region_fault(region);
  if (fault.empty()) return region;
  return Error{Code::invalid_argument, fault,
               annotated.empty() ? "metadata.name" : "metadata.annotations[davit.dev/region]"};
}

// Why a pod of the agent does not run, as the cluster says it. Empty: nothing is known.
std::string pod_waits_for(const Kubectl& kubectl, const AgentInstallation& i) {
  const auto reasons = kubectl.run(
      {"get", "pods", "--namespace", i.ns, "--selector", agent_selector(i.name),
       "--output=jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}"});
  return reasons.ok() ? harmless(*reasons) : std::string();
}

}  // namespace

Result<> ClusterRegion::require_same_region(const ActuatorRequest& request,
                                            const std::string& region) const {
  const auto owned = folder_.owned_by(request.uid);
  if (!owned.ok()) return owned.error();
  for (const auto& [other, owner] : *owned) {
    if (other == region) continue;
    return Error{Code::invalid_argument,
                 "this Cluster is region " + other + " and cannot become region " + region,
                 "metadata.annotations[davit.dev/region]"};
  }
  return {};
}

// Makes the region this Cluster's, or finds that it is.
Result<RegionOwner> ClusterRegion::claim(const ActuatorRequest& request,
                                         const std::string& region) {
  RegionOwner mine;
  mine.uid = request.uid;
  mine.ns = request.ns;
  mine.name = request.name;
  mine.agent_name = settings_.installation.name;
  mine.agent_ns = settings_.installation.ns;
  mine.claimed_at = unix_ms_now();
  if (auto r = folder_.claim(region, mine); !r.ok()) return r.error();
  const auto there = folder_.owner(region);
  if (!there.ok()) return there.error();
  if (!*there) return Error{Code::unavailable, "region " + region + " is being given up"};
  RegionOwner owner = **there;
  if (owner.removing_since == 0) return owner;
  // Its removal was begun, by whoever took an older Cluster for this one.
  owner.removing_since = owner.leaving_since = owner.withdrawn_at = 0;
  if (auto r = folder_.note(region, owner); !r.ok()) return r.error();
  return owner;
}

ActuatorAnswer ClusterRegion::join(const ActuatorRequest& request) {
  const auto region = region_of(request);
  if (!region.ok()) return ActuatorAnswer::failed(region.error(), "InvalidConfiguration");
  if (auto r = folder_.require(); !r.ok()) return ActuatorAnswer::failed(r.error());
  if (auto r = require_same_region(request, *region); !r.ok())
    return ActuatorAnswer::failed(r.error(), "UnsupportedChange");
  const std::string kubeconfig = request.text_at(settings_.kubeconfig_at);
  if (kubeconfig.empty()) {
    return ActuatorAnswer::wait(
        until_next_look, "the Cluster has no kubeconfig yet (" + settings_.kubeconfig_at + ")");
  }
  AgentInstallation installation = settings_.installation;
  installation.region = *region;
  // Nothing is begun with a configuration that no agent can run with, or without a cluster.
  const auto configuration = read_agent_configuration(settings_.files, installation);
  if (!configuration.ok())
    return ActuatorAnswer::failed(configuration.error().in("the agents' configuration"));
  const auto kubectl = Kubectl::open(settings_.kubectl, kubeconfig, request.deadline);
  if (!kubectl.ok()) return ActuatorAnswer::failed(kubectl.error());
  const auto owner = claim(request, *region);
  if (!owner.ok()) {
    const bool taken = owner.error().code == Code::already_exists;
    return ActuatorAnswer::failed(owner.error(), taken ? "CreateError" : "");
  }
  // As it was installed: the names in the configuration may be others by now.
  installation.name = owner->agent_name;
  installation.ns = owner->agent_ns;
  auto token = this->token(request, *region);
  if (!token.ok() && token.error().code == Code::already_exists) {
    // Somebody else has made the region's token: it is not this Cluster's, which may name another.
    if (auto r = folder_.release(*region); !r.ok()) return ActuatorAnswer::failed(r.error());
    return ActuatorAnswer::failed(token.error(), "CreateError");
  }
  if (!token.ok()) return ActuatorAnswer::failed(token.error());
  installation.token = std::move(*token);
  const auto applied = kubectl->run({"apply", "--server-side", "--force-conflicts",
                                     "--field-manager=davit-regions", "--filename=-"},
                                    manifests_text(agent_manifests(*configuration, installation)));
  if (!applied.ok()) {
    Error error = applied.error().in("the agent of region " + *region + " cannot be installed");
    const size_t shown = error.message.find(installation.token);
    if (shown != std::string::npos) error.message.resize(shown);
    return ActuatorAnswer::failed(error);
  }
  return await_agent(*kubectl, *region, *owner);
}

// Who makes the token, as the server keeps it.
std::string ClusterRegion::maker_of(const ActuatorRequest& request) {
  return "Cluster " + request.ns + "/" + request.name + " (uid " + request.uid + ")";
}

Result<std::string> ClusterRegion::token(const ActuatorRequest& request,
                                         const std::string& region) const {
  if (!settings_.tokens_dir.empty()) return folder_.token(region);
  auto client = OperatorClient::open(settings_.server);
  if (!client.ok()) return client.error().in("the server");
  auto made = TokenClient(*client, settings_.listener).create(region, "keep", maker_of(request));
  if (!made.ok()) return made.error().in("the server");
  return std::move(made->token);
}

Result<> ClusterRegion::withdraw_token(const ActuatorRequest& request,
                                       const std::string& region) const {
  if (!settings_.tokens_dir.empty()) return folder_.withdraw_token(region);
  auto client = OperatorClient::open(settings_.server);
  if (!client.ok()) return client.error().in("the server");
  const auto removed = TokenClient(*client, settings_.listener).remove(region, maker_of(request));
  // Of somebody else: it is not ours to delete.
  if (!removed.ok() && removed.error().code != Code::failed_precondition)
    return removed.error().in("the server");
  return {};
}

ActuatorAnswer ClusterRegion::await_agent(const Kubectl& kubectl, const std::string& region,
                                          RegionOwner owner) {
  auto client = OperatorClient::open(settings_.server);
  if (!client.ok()) return ActuatorAnswer::failed(client.error().in("the server"));
  const int64_t now = unix_ms_now();
  const auto view = RegionServer(*client, region).look(now);
  if (!view.ok()) return ActuatorAnswer::failed(view.error().in("the server"));
  const bool reports = view->at_work && view->seen_at_unix_ms >= owner.claimed_at;
  if (!reports) {
    AgentInstallation installed;
    installed.name = owner.agent_name;
    installed.ns = owner.agent_ns;
    const std::string why = pod_waits_for(kubectl, installed);
    return ActuatorAnswer::wait(
        until_next_look,
        "the agent of region " + region +
            (owner.joined ? " does not report any more" : " has not reported yet") +
            (why.empty() ? "" : ": its pod waits (" + why + ")"));
  }
  ActuatorAnswer done;
  if (owner.joined) return done;
  owner.joined = true;
  if (auto r = folder_.note(region, owner); !r.ok()) return ActuatorAnswer::failed(r.error());
  done.events.push_back({false, "RegionJoined", "The agent of region " + region + " reports."});
  return done;
}

}  // namespace davit::host
