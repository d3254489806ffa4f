// What takes part in the simulated federation, and what the simulation has to know of its objects.
// It says by itself what travels, so that it can judge what the plugin says.
#pragma once

#include "../objects.hpp"

namespace davit::simulation::federation {

using Time = std::chrono::nanoseconds;

inline constexpr size_t robots = 2;
inline std::string robot_name(size_t robot) {
  return "r" + std::to_string(robot + 1);
}

// How the status of a kind goes back.
enum class Way { none, subresource, subtree, whole };

struct Kind {
  cluster::Resource resource;
  const char* kind;
  Way status;
  bool filtered = false;  // each object is of one robot, which a label names
  bool swapped = false;   // the spec goes from the robot to the cloud
  bool defined = true;    // by a CustomResourceDefinition; else by the configuration
  std::string field = "spec";
  // Several clusters may have objects where the spec goes.
  bool shares_target() const { return swapped || !defined; }
  std::string definition() const { return resource.resource + "." + resource.group; }
};

inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {{"sim.dev", "v1", "jobs"}, "Job", Way::subresource, true},
      {{"sim.dev", "v1", "boards"}, "Board", Way::subtree},
      {{"sim.dev", "v1", "plans"}, "Plan", Way::whole, true},
      {{"sim.dev", "v1", "reports"}, "Report", Way::subresource, true, true},
      {{"", "v1", "configmaps"}, "ConfigMap", Way::none, false, false, false, "data"}};
  return all;
}

inline const Kind* kind_of(const cluster::Resource& resource) {
  for (const Kind& kind : kinds()) {
    if (kind.resource == resource) return &kind;
  }
  return nullptr;
}

// --- objects: null is one that is not there

inline std::string uid_of(const json::value& object) {
  return text_at(object, "/metadata/uid");
}
inline uint64_t version_of(const json::value& object) {
  return number_at(object, "/metadata/resourceVersion");
}
inline int64_t generation_of(const json::value& object) {
  boost::system::error_code none;
  const json::value* found = object.find_pointer("/metadata/generation", none);
  return found == nullptr ? 0 : found->to_number<int64_t>();
}
inline bool terminating(const json::value& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}
// The uid of the upstream object that a downstream object was made of.
inline std::string made_of(const json::value& object) {
  return text_at(object, "/metadata/annotations/davit.dev~1upstream-uid");
}
// Which cluster that is in, where several have objects in one.
inline std::string origin_of(const json::value& object) {
  return text_at(object, "/metadata/annotations/davit.dev~1upstream-cluster");
}
// Null also where there is none.
inline json::value value_at(const json::value& object, const std::string& pointer) {
  boost::system::error_code none;
  const json::value* found = object.find_pointer(pointer, none);
  return found == nullptr ? json::value() : *found;
}
inline int64_t observed_generation(const json::value& status) {
  const json::value found = value_at(status, "/observedGeneration");
  return found.is_null() ? -1 : found.to_number<int64_t>();
}

inline constexpr const char* robot_label = "cloudrobotics.com/robot-name";

// Whether this robot's watches show it.
inline bool selects(const Kind& kind, size_t robot, const json::value& object) {
  if (!kind.defined) return text_at(object, "/metadata/labels/to") == "edge";
  return !kind.filtered ||
         text_at(object, "/metadata/labels/cloudrobotics.com~1robot-name") == robot_name(robot);
}

inline json::value without(json::value object, const std::string& key) {
  if (object.is_object()) object.get_object().erase(key);
  return object;
}

inline json::value or_empty(json::value object) {
  return object.is_null() ? json::value(json::object()) : object;
}

// Labels, annotations and the field that goes down, as the downstream object must have them.
inline json::value wanted_of(const Kind& kind, const json::value& upstream) {
  json::value annotations = or_empty(value_at(upstream, "/metadata/annotations"));
  annotations.get_object().erase("cr-syncer.cloudrobotics.com/remote-resource-version");
  annotations.get_object()["davit.dev/upstream-uid"] = uid_of(upstream);
  return json::array{or_empty(value_at(upstream, "/metadata/labels")), std::move(annotations),
                     value_at(upstream, "/" + kind.field)};
}
// The same of a downstream object as it is.
inline json::value content_of(const Kind& kind, const json::value& downstream) {
  return json::array{or_empty(value_at(downstream, "/metadata/labels")),
                     without(or_empty(value_at(downstream, "/metadata/annotations")),
                             "davit.dev/upstream-cluster"),
                     value_at(downstream, "/" + kind.field)};
}

// What a robot's status and the status that upstream has of it have in common. Null: nothing.
inline json::value told(const Kind& kind, size_t robot, const json::value& object) {
  const json::value status = value_at(object, "/status");
  if (kind.status == Way::subtree) return value_at(status, "/" + robot_name(robot));
  return without(status, "observedGeneration");
}

}  // namespace davit::simulation::federation
