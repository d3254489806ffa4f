#include "controllers.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/plan.hpp"
#include "observed.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

struct Words {
  const char* word;
  const char* kind;
  const char* resource;
  const char* spoken;
};
// In the order of all_controllers.
constexpr Words words[] = {{"replica_set", "ReplicaSet", "replicasets", "replica set"},
                           {"deployment", "Deployment", "deployments", "deployment"},
                           {"stateful_set", "StatefulSet", "statefulsets", "stateful set"}};

const Words& words_of(Controller c) {
  return words[static_cast<size_t>(c)];
}

std::string list_of_others(Controller wanted, const Observed& observed) {
  std::string out;
  for (const auto& [controller, there] : observed.controllers) {
    if (controller != wanted) out += (out.empty() ? "" : " and ") + std::string(spoken(controller));
  }
  if (out.empty()) return std::string("former ") + spoken(Controller::stateful_set);
  return out;
}

}  // namespace

const char* word_of(Controller c) {
  return words_of(c).word;
}
const char* kind_of(Controller c) {
  return words_of(c).kind;
}
const char* resource_of(Controller c) {
  return words_of(c).resource;
}
const char* spoken(Controller c) {
  return words_of(c).spoken;
}

std::optional<Controller> controller_of_word(std::string_view word) {
  for (const Controller c : all_controllers) {
    if (word == word_of(c)) return c;
  }
  return std::nullopt;
}

std::string controllers_fault(std::string_view word) {
  return names::refused(R"("replica_set", "deployment" or "stateful_set")", word);
}

Controller maker_of(const Pod& pod) {
  return controller_of_word(pod.controller).value_or(Controller::replica_set);
}

std::vector<std::string> orphaned_pods(const Observed& observed) {
  std::vector<std::string> out;
  if (observed.find(Controller::stateful_set) != nullptr) return out;
  for (const Pod& pod : observed.pods) {
    if (maker_of(pod) == Controller::stateful_set && !pod.controlled && !pod.terminating)
      out.push_back(pod.name);
  }
  return out;
}

Change change_to(Controller wanted, const Observed& observed, int64_t replicas, const Pace& pace) {
  Change out;
  out.others = std::any_of(observed.controllers.begin(), observed.controllers.end(),
                           [&](const auto& each) { return each.first != wanted; }) ||
               (wanted != Controller::stateful_set && !orphaned_pods(observed).empty());
  if (!out.others) return out;
  const Available available = available_of(observed.pods, pace);
  const bool others_serve =
      std::any_of(observed.pods.begin(), observed.pods.end(),
                  [&](const Pod& pod) { return pod.ready() && maker_of(pod) != wanted; });
  out.retire = available.updated >= replicas || !others_serve;
  if (out.retire) return out;
  out.look_again_ms = available.look_again_ms;
  out.waits = "the " + list_of_others(wanted, observed) + " stays until enough pods of the " +
              spoken(wanted) + " are available: " + std::to_string(available.updated) + " of " +
              std::to_string(replicas);
  return out;
}

std::string cannot_change(const json::object& wanted_spec, const json::object* there) {
  std::string out;
  for (const char* field : {"selector", "serviceName", "podManagementPolicy"}) {
    const auto* wanted = wanted_spec.if_contains(field);
    const auto* found = there == nullptr ? nullptr : there->if_contains(field);
    if (wanted != nullptr && found != nullptr && *wanted != *found)
      out += (out.empty() ? "" : ", ") + std::string(field);
  }
  return out;
}

void remove_others(std::optional<Controller> wanted, const Observed& observed, json::array& out) {
  for (const auto& [controller, there] : observed.controllers) {
    if (controller == wanted || there.terminating) continue;
    out.push_back(removal("apps", "v1", resource_of(controller), there.ns, there.name));
  }
  if (wanted == Controller::stateful_set) return;
  for (const auto& name : orphaned_pods(observed))
    out.push_back(removal("", "v1", "pods", observed.pods.front().ns, name));
}

}  // namespace davit::deployment
