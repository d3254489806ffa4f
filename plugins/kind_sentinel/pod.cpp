#include "pod.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/quantity.hpp>
#include <davit/utf8.hpp>

#include "fields.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr size_t trouble_max = 300;  // a scheduler's message lists every node

const json::value* condition(const json::value& object, std::string_view type) {
  const auto* all = array_at(object, "/status/conditions");
  if (all == nullptr) return nullptr;
  const auto at = std::find_if(all->begin(), all->end(),
                               [&](const json::value& c) { return text_at(c, "/type") == type; });
  return at == all->end() ? nullptr : &*at;
}

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

std::string with_code(std::string_view reason, const char* what, int64_t code) {
  if (code == 0) return std::string(reason);
  return std::string(reason) + " (" + what + "exit code " + std::to_string(code) + ")";
}

// What is wrong with one container; empty: nothing is known to be wrong.
std::string container_trouble(const json::value& container) {
  const auto waiting = text_at(container, "/state/waiting/reason");
  const bool begins = waiting == "ContainerCreating" || waiting == "PodInitializing";
  if (!waiting.empty() && !begins)
    return with_code(waiting, "last ", integer_at(container, "/lastState/terminated/exitCode"));
  const int64_t code = integer_at(container, "/state/terminated/exitCode");
  if (code == 0) return {};
  const auto reason = text_at(container, "/state/terminated/reason");
  return with_code(reason.empty() ? "Error" : reason, "", code);
}

// The trouble of the first container that has one. The container is named when it is not the only
// one.
std::string trouble_in(const json::value& pod, std::string_view statuses, const char* what) {
  const auto* all = array_at(pod, statuses);
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const std::string trouble = container_trouble((*all)[i]);
    if (trouble.empty()) continue;
    const auto name = text_at((*all)[i], "/name");
    const bool alone = all->size() == 1 && *what == '\0';
    if (alone || name.empty()) return what + trouble;
    return std::string(what) + "container " + std::string(name) + ": " + trouble;
  }
  return {};
}

void read_trouble(const json::value& object, Pod& pod) {
  pod.trouble = trouble_in(object, "/status/initContainerStatuses", "init ");
  if (pod.trouble.empty()) pod.trouble = trouble_in(object, "/status/containerStatuses", "");
  pod.failing = !pod.trouble.empty();
  if (pod.failing || pod.status == "running") return;
  // The following troubles may pass without help: a node can come, or come back.
  if (says(object, "PodScheduled", "False")) {
    pod.trouble = saying(object, "PodScheduled");
  } else if (text_at(object, "/status/reason") == "NodeLost") {
    pod.trouble = "NodeLost: its node does not answer";
  } else if (says(object, "ContainersReady", "True")) {
    pod.trouble = "not ready although its containers are: its node may be gone";
  }
}

}  // namespace

bool says(const json::value& object, std::string_view type, std::string_view status) {
  const auto* c = condition(object, type);
  return c != nullptr && text_at(*c, "/status") == status;
}

// "FailedCreate: pods is forbidden".
std::string saying(const json::value& object, std::string_view type) {
  const auto* c = condition(object, type);
  if (c == nullptr) return {};
  std::string out(text_at(*c, "/reason"));
  const auto message = text_at(*c, "/message");
  if (!message.empty()) out += (out.empty() ? "" : ": ") + std::string(message);
  if (out.empty()) out = type;
  return shortened(out, trouble_max);
}

std::vector<std::string> kept_of_pods() {
  std::vector<std::string> out{"/spec/containers/0/resources/limits",
                               "/status/phase",
                               "/status/reason",
                               "/status/podIP",
                               "/status/conditions/*/type",
                               "/status/conditions/*/status",
                               "/status/conditions/*/reason",
                               "/status/conditions/*/message"};
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
  pod.ip = text_at(object, "/status/podIP");
  pod.status = pod_status(object);
  pod.terminating = !text_at(object, "/metadata/deletionTimestamp").empty();
  constexpr std::string_view limits = "/spec/containers/0/resources/limits";
  pod.cpu_millicores = millicores_of(text_at(object, std::string(limits) + "/cpu")).value_or(0);
  pod.memory_mib = mib_of(text_at(object, std::string(limits) + "/memory")).value_or(0);
  read_trouble(object, pod);
  return pod;
}

}  // namespace davit::sentinel
