#include "agent_removal.hpp"
#include "cluster_region.hpp"
#include "kubectl.hpp"
#include "output.hpp"
#include "region_server.hpp"

namespace davit::host {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds until_removal_look{1'000};
// The server looks at its folder of tokens each second, and ends the calls of one that is gone.
constexpr milliseconds until_withdrawn{2'500};

bool within(int64_t since, int64_t now, milliseconds limit) {
  return now - since < limit.count();
}

}  // namespace

void ClusterRegion::warn(const std::string& reason, const std::string& message) {
  events_.push_back({true, reason, message});
}

ActuatorAnswer ClusterRegion::leave(const ActuatorRequest& request) {
  if (auto r = folder_.require(); !r.ok()) return ActuatorAnswer::failed(r.error());
  const auto owned = folder_.owned_by(request.uid);
  if (!owned.ok()) return ActuatorAnswer::failed(owned.error());
  ActuatorAnswer answer;
  for (const auto& [region, found] : *owned) {
    RegionOwner owner = found;
    answer = leave(request, region, owner);
    if (!answer.is_done()) break;
  }
  answer.events = std::move(events_);
  return answer;
}

ActuatorAnswer ClusterRegion::leave(const ActuatorRequest& request, const std::string& region,
                                    RegionOwner& owner) {
  if (owner.removing_since == 0) {
    owner.removing_since = unix_ms_now();
    if (auto r = folder_.note(region, owner); !r.ok()) return ActuatorAnswer::failed(r.error());
  }
  auto client = OperatorClient::open(settings_.server);
  if (!client.ok()) return ActuatorAnswer::failed(client.error().in("the server"));
  if (owner.leaving_since == 0) {
    if (auto answer = drain(*client, region, owner); !answer.is_done()) return answer;
  }
  if (owner.withdrawn_at == 0) {
    if (auto answer = remove_agent(request, region, owner); !answer.is_done()) return answer;
  }
  if (within(owner.withdrawn_at, unix_ms_now(), until_withdrawn)) {
    return ActuatorAnswer::wait(until_withdrawn,
                                "the server forgets the token of region " + region);
  }
  const RegionServer server(*client, region);
  // What was applied in the meantime has no region any more.
  if (auto r = server.delete_records(); !r.ok())
    return ActuatorAnswer::failed(r.error().in("the server"));
  if (auto r = server.forget_agents(); !r.ok())
    return ActuatorAnswer::failed(r.error().in("the server"));
  if (auto r = folder_.release(region); !r.ok()) return ActuatorAnswer::failed(r.error());
  events_.push_back({false, "RegionLeft", "Region " + region + " is given up."});
  return {};
}

// Deletes the records and waits until the agent has removed their objects.
ActuatorAnswer ClusterRegion::drain(OperatorClient& client, const std::string& region,
                                    RegionOwner& owner) {
  const RegionServer server(client, region);
  if (auto deleted = server.delete_records(); !deleted.ok())
    return ActuatorAnswer::failed(deleted.error().in("the server"));
  const int64_t now = unix_ms_now();
  const auto view = server.look(now);
  if (!view.ok()) return ActuatorAnswer::failed(view.error().in("the server"));
  if (view->left() > 0) {
    if (within(owner.removing_since, now, view->at_work ? settings_.drain : settings_.agent))
      return ActuatorAnswer::wait(until_removal_look, left_of(*view, region));
    const std::string example = view->example.empty() ? "" : ", such as " + view->example;
    warn("RegionNotDrained",
         counted(view->left(), "record") + " of region " + region +
             " were not removed from the cluster" + example +
             (view->at_work ? ": the time for it is over." : ": its agent is away."));
  }
  owner.leaving_since = now;
  if (auto r = folder_.note(region, owner); !r.ok()) return ActuatorAnswer::failed(r.error());
  return {};
}

// Removes the agent from the cluster, in order, and then its token. A cluster that cannot be
// reached is going anyway: it is said, and the rest is done.
ActuatorAnswer ClusterRegion::remove_agent(const ActuatorRequest& request,
                                           const std::string& region, RegionOwner& owner) {
  const bool patient = within(owner.leaving_since, unix_ms_now(), settings_.agent);
  const std::string kubeconfig = request.text_at(settings_.kubeconfig_at);
  const auto kubectl = kubeconfig.empty()
                           ? Result<Kubectl>(Error{Code::failed_precondition,
                                                   "the Cluster has no kubeconfig any more"})
                           : Kubectl::open(settings_.kubectl, kubeconfig, request.deadline);
  Result<> removed;
  if (!kubectl.ok()) {
    removed = kubectl.error();
  } else {
    const auto pods = end_agent(*kubectl, owner.agent_name, owner.agent_ns);
    if (pods.ok() && !pods->empty() && patient)
      return ActuatorAnswer::wait(until_removal_look,
                                  "the agent of region " + region + " is ending");
    removed = pods.ok() ? remove_agent_objects(*kubectl, owner.agent_name, owner.agent_ns)
                        : Result<>(pods.error());
  }
  if (!removed.ok()) {
    const std::string& why = removed.error().message;
    if (patient && removed.error().code == Code::unavailable) {
      return ActuatorAnswer::wait(until_removal_look,
                                  "the cluster of region " + region + " does not answer: " + why);
    }
    warn("AgentNotRemoved",
         "The agent of region " + region + " was not removed from the cluster: " + why + ".");
  }
  if (auto r = withdraw_token(request, region); !r.ok()) return ActuatorAnswer::failed(r.error());
  owner.withdrawn_at = unix_ms_now();
  if (auto r = folder_.note(region, owner); !r.ok()) return ActuatorAnswer::failed(r.error());
  return {};
}

}  // namespace davit::host
