#include "pod.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/quantity.hpp>

#include "fields.hpp"
#include "labels.hpp"
#include "objects.hpp"
#include "times.hpp"

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

// When a pod's node is gone, only the node controller writes the pod's status. It sets Ready to
// false; ContainersReady stays as the kubelet left it.
bool is_ready(const json::value& pod) {
  if (text_at(pod, "/status/reason") == "NodeLost") return false;
  const bool said = condition(pod, "Ready") != nullptr;
  return says(pod, said ? "Ready" : "ContainersReady", "True");
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

constexpr std::string_view init_statuses = "/status/initContainerStatuses";
constexpr std::string_view app_statuses = "/status/containerStatuses";

// A sidecar is an init container that does not end.
bool is_sidecar(const json::value& pod, std::string_view name) {
  const auto* all = array_at(pod, "/spec/initContainers");
  return all != nullptr && std::any_of(all->begin(), all->end(), [&](const json::value& c) {
           return text_at(c, "/name") == name && text_at(c, "/restartPolicy") == "Always";
         });
}

// "container web", "init container migrate", "sidecar proxy".
std::string called(const json::value& pod, std::string_view statuses, std::string_view name) {
  std::string out = "container";
  if (statuses == init_statuses) out = is_sidecar(pod, name) ? "sidecar" : "init container";
  return name.empty() ? out : out + " " + std::string(name);
}

// The trouble of the first container that has one. The container is named when it is not the only
// one.
std::string trouble_in(const json::value& pod, std::string_view statuses) {
  const auto* all = array_at(pod, statuses);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    std::string trouble = container_trouble((*all)[i]);
    if (trouble.empty()) continue;
    if (all->size() == 1 && statuses == app_statuses) return trouble;
    return called(pod, statuses, text_at((*all)[i], "/name")) + ": " + trouble;
  }
  return {};
}

bool is_true(const json::value& of, std::string_view member) {
  const auto* found = value_in(of.if_object(), member);
  return found != nullptr && *found == true;
}

// What a container that runs is waited for; empty: it is not.
std::string awaited(const json::value& pod, std::string_view statuses,
                    const json::value& container) {
  if (object_at(container, "/state/running") == nullptr) return {};
  const auto name = text_at(container, "/name");
  std::string out = called(pod, statuses, name);
  if (statuses == init_statuses && !is_sidecar(pod, name)) {
    out += " has not ended";
  } else if (!is_true(container, "ready")) {
    out += " is not ready";
  } else {
    return {};
  }
  const auto code = integer_at(container, "/lastState/terminated/exitCode");
  if (code && *code != 0) out += " (last exit code " + std::to_string(*code) + ")";
  return out;
}

std::string first_awaited(const json::value& pod) {
  for (const auto statuses : {init_statuses, app_statuses}) {
    const auto* all = array_at(pod, statuses);
    for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
      if (auto what = awaited(pod, statuses, (*all)[i]); !what.empty()) return what;
    }
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
  pod.trouble = trouble_in(object, init_statuses);
  if (pod.trouble.empty()) pod.trouble = trouble_in(object, app_statuses);
  pod.failing = !pod.trouble.empty();
  if (pod.failing || pod.ready()) return;
  // The following troubles may pass without help: a node can come, or come back.
  if (says(object, "PodScheduled", "False")) {
    pod.trouble = saying(object, "PodScheduled");
  } else if (reason == "NodeLost") {
    pod.trouble = "NodeLost: its node does not answer";
  } else if (says(object, "ContainersReady", "True")) {
    pod.trouble = saying(object, "Ready");
    if (pod.trouble.empty())
      pod.trouble = "not ready although its containers are: its node may be gone";
  } else {
    pod.trouble = first_awaited(object);
  }
}

int64_t time_at(const json::value& object, std::string_view pointer) {
  return unix_ms_of(text_at(object, pointer)).value_or(0);
}

}  // namespace

std::vector<std::string> kept_of_pods() {
  std::vector<std::string> out{"/spec/containers/*/resources/limits",
                               "/spec/initContainers/*/name",
                               "/spec/initContainers/*/restartPolicy",
                               "/status/phase",
                               "/status/reason",
                               "/status/podIP",
                               "/status/podIPs/0/ip",
                               "/status/conditions/*/type",
                               "/status/conditions/*/status",
                               "/status/conditions/*/reason",
                               "/status/conditions/*/message"};
  for (const std::string of : {"/status/initContainerStatuses/*", "/status/containerStatuses/*"}) {
    for (const char* what : {"/name", "/state/waiting/reason", "/state/terminated/reason",
                             "/state/terminated/exitCode", "/lastState/terminated/exitCode",
                             "/ready", "/state/running/startedAt"})
      out.push_back(of + what);
  }
  return out;
}

std::vector<std::string> kept_of_replaced_pods() {
  std::vector<std::string> out = kept_of_pods();
  for (const char* more :
       {"/metadata/creationTimestamp", labels::template_hash_of_pod, labels::controller_of_pod,
        "/spec/containers/*/name", "/spec/containers/*/image", "/spec/containers/*/command",
        "/status/conditions/*/lastTransitionTime"})
    out.emplace_back(more);
  return out;
}

bool is_pod(const json::value& object) {
  return is(object, "", "Pod");
}

Pod read_pod(const json::value& object) {
  Pod pod;
  pod.name = text_at(object, "/metadata/name");
  pod.ns = text_at(object, "/metadata/namespace");
  pod.ip = text_at(object, "/status/podIP");
  if (pod.ip.empty()) pod.ip = text_at(object, "/status/podIPs/0/ip");
  pod.hash = text_in(object_at(object, "/metadata/annotations"), labels::template_hash);
  pod.controller = label(object, labels::controller);
  pod.status = pod_status(object);
  pod.terminating = is_terminating(object);
  pod.controlled = is_controlled(object);
  pod.created_ms = time_at(object, "/metadata/creationTimestamp");
  pod.ends_ms = time_at(object, "/metadata/deletionTimestamp");
  pod.ready_since_ms =
      unix_ms_of(text_in(condition(object, "Ready"), "lastTransitionTime")).value_or(0);
  pod.containers = array_at(object, "/spec/containers");
  read_trouble(object, pod);
  constexpr std::string_view limits = "/spec/containers/0/resources/limits";
  pod.cpu_millicores = millicores_of(text_at(object, std::string(limits) + "/cpu")).value_or(0);
  pod.memory_mib = mib_of(text_at(object, std::string(limits) + "/memory")).value_or(0);
  return pod;
}

void sort_by_name(std::vector<Pod>& pods) {
  std::sort(pods.begin(), pods.end(), [](const Pod& a, const Pod& b) { return a.name < b.name; });
}

void add_worst_pod(Trouble& to, const std::vector<Pod>& pods) {
  const Pod* worst = nullptr;
  int64_t others = -1;
  for (const auto& pod : pods) {
    if (pod.trouble.empty() || pod.terminating) continue;
    ++others;
    if (worst == nullptr || (pod.failing && !worst->failing)) worst = &pod;
  }
  if (worst == nullptr) return;
  to.failing = to.failing || worst->failing;
  to.text += (to.text.empty() ? "pod " : "; pod ") + worst->name + ": " + worst->trouble;
  if (others > 0) to.text += " (and " + std::to_string(others) + " more)";
}

std::string address_by_ip(const Pod& pod, int64_t port) {
  const bool v6 = pod.ip.find(':') != std::string::npos;
  return (v6 ? "[" + pod.ip + "]" : pod.ip) + ":" + std::to_string(port);
}

json::array children_of(const std::vector<Pod>& pods,
                        const std::function<std::string(const Pod&)>& address) {
  json::array out;
  for (const auto& pod : pods) {
    if (!pod.active() || pod.ip.empty()) continue;
    out.push_back(json::object{{"name", pod.name},
                               {"address", address(pod)},
                               {"status", pod.status},
                               {"cpu_millicores", pod.cpu_millicores},
                               {"memory_mib", pod.memory_mib}});
  }
  return out;
}

}  // namespace davit::kubernetes
