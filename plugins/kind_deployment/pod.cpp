#include "pod.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/quantity.hpp>

#include "conditions.hpp"
#include "fields.hpp"
#include "labels.hpp"
#include "times.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// When a pod's node is gone, only the node controller writes the pod's status. It sets Ready to
// false; ContainersReady stays as the kubelet left it.
bool is_ready(const json::value& pod) {
  if (text_at(pod, "/status/reason") == "NodeLost") return false;
  const auto* ready = condition(pod, "Ready");
  return is_true(ready != nullptr ? ready : condition(pod, "ContainersReady"));
}

std::string pod_status(const json::value& pod) {
  const auto phase = text_at(pod, "/status/phase");
  if (phase == "Failed") return "failed";
  if (phase == "Succeeded") return "done";
  if (phase == "Running") return is_ready(pod) ? "running" : "pending";
  return phase == "Pending" || phase.empty() ? "pending" : "inactive";
}

// What is wrong with one container; empty: nothing is known to be wrong.
std::string container_trouble(const json::value& container) {
  const auto waiting = text_at(container, "/state/waiting/reason");
  const bool begins = waiting == "ContainerCreating" || waiting == "PodInitializing";
  std::string out;
  if (!waiting.empty() && !begins) {
    out = waiting;
    const auto code = integer_at(container, "/lastState/terminated/exitCode");
    if (code) out += " (last exit code " + std::to_string(*code) + ")";
    return out;
  }
  const auto code = integer_at(container, "/state/terminated/exitCode");
  if (!code || *code == 0) return out;
  const auto reason = text_at(container, "/state/terminated/reason");
  out = reason.empty() ? "Error" : reason;
  return out + " (exit code " + std::to_string(*code) + ")";
}

// The trouble of the first container that has one. The container is named when it is not the only
// one.
std::string trouble_in(const json::value& pod, std::string_view statuses, const char* what) {
  const auto* all = array_at(pod, statuses);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    std::string trouble = container_trouble((*all)[i]);
    if (trouble.empty()) continue;
    const auto name = text_at((*all)[i], "/name");
    const bool alone = all->size() == 1 && *what == '\0';
    if (alone || name.empty()) return what + trouble;
    return std::string(what) + "container " + std::string(name) + ": " + trouble;
  }
  return {};
}

void read_trouble(const json::value& object, Pod& pod) {
  const auto reason = text_at(object, "/status/reason");
  if (pod.status == "failed") {
    pod.trouble = reason.empty() ? "Failed" : std::string(reason);
    pod.failing = true;
    return;
  }
  pod.trouble = trouble_in(object, "/status/initContainerStatuses", "init ");
  if (pod.trouble.empty()) pod.trouble = trouble_in(object, "/status/containerStatuses", "");
  pod.failing = !pod.trouble.empty();
  if (pod.failing || pod.ready()) return;
  // The following troubles may pass without help: a node can come, or come back.
  const auto* scheduled = condition(object, "PodScheduled");
  if (member(scheduled, "status") == "False") {
    pod.trouble = saying(scheduled);
  } else if (reason == "NodeLost") {
    pod.trouble = "NodeLost: its node does not answer";
  } else if (is_true(condition(object, "ContainersReady"))) {
    pod.trouble = saying(condition(object, "Ready"));
    if (pod.trouble.empty())
      pod.trouble = "not ready although its containers are: its node may be gone";
  }
}

int64_t time_at(const json::value& object, std::string_view pointer) {
  return unix_ms_of(text_at(object, pointer)).value_or(0);
}

}  // namespace

std::vector<std::string> kept_of_pods() {
  std::vector<std::string> out{"/metadata/creationTimestamp",
                               labels::template_hash_of_pod,
                               "/spec/containers/*/name",
                               "/spec/containers/*/image",
                               "/spec/containers/*/command",
                               "/spec/containers/*/resources/limits",
                               "/status/phase",
                               "/status/reason",
                               "/status/podIP",
                               "/status/podIPs/0/ip",
                               "/status/conditions/*/type",
                               "/status/conditions/*/status",
                               "/status/conditions/*/reason",
                               "/status/conditions/*/message",
                               "/status/conditions/*/lastTransitionTime"};
  for (const std::string of : {"/status/initContainerStatuses/*", "/status/containerStatuses/*"}) {
    for (const char* what : {"/name", "/state/waiting/reason", "/state/terminated/reason",
                             "/state/terminated/exitCode", "/lastState/terminated/exitCode"})
      out.push_back(of + what);
  }
  return out;
}

Pod read_pod(const json::value& object) {
  Pod pod;
  pod.name = text_at(object, "/metadata/name");
  pod.ns = text_at(object, "/metadata/namespace");
  pod.ip = text_at(object, "/status/podIP");
  if (pod.ip.empty()) pod.ip = text_at(object, "/status/podIPs/0/ip");
  pod.hash = member(object_at(object, "/metadata/annotations"), labels::template_hash);
  pod.status = pod_status(object);
  pod.terminating = !text_at(object, "/metadata/deletionTimestamp").empty();
  pod.created_ms = time_at(object, "/metadata/creationTimestamp");
  pod.ends_ms = time_at(object, "/metadata/deletionTimestamp");
  pod.ready_since_ms =
      unix_ms_of(member(condition(object, "Ready"), "lastTransitionTime")).value_or(0);
  pod.containers = array_at(object, "/spec/containers");
  read_trouble(object, pod);
  constexpr std::string_view limits = "/spec/containers/0/resources/limits";
  pod.cpu_millicores = millicores_of(text_at(object, std::string(limits) + "/cpu")).value_or(0);
  pod.memory_mib = mib_of(text_at(object, std::string(limits) + "/memory")).value_or(0);
  return pod;
}

}  // namespace davit::deployment
