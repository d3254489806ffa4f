#include "definition.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "content.hpp"
#include "kubernetes/json.hpp"

namespace davit::federation {
namespace {

using kubernetes::object_in;
using kubernetes::text_in;

constexpr std::string_view spec_source_key = "cr-syncer.cloudrobotics.com/spec-source";
constexpr std::string_view filter_key = "cr-syncer.cloudrobotics.com/filter-by-robot-name";
constexpr std::string_view subtree_key = "cr-syncer.cloudrobotics.com/status-subtree";

// As Go's strconv.ParseBool.
std::optional<bool> parse_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "TRUE", "true", "True"};
  static constexpr std::array<std::string_view, 6> no{"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(yes, text) != yes.end()) return true;
  if (text.empty() || std::ranges::find(no, text) != no.end()) return false;
  return std::nullopt;
}

const json::object* storage_version(const json::object* spec) {
  const json::array* versions = kubernetes::array_in(spec, "versions");
  if (versions == nullptr) return nullptr;
  for (const json::value& v : *versions) {
    const json::object* version = v.if_object();
    const json::value* storage =
        version == nullptr ? nullptr : kubernetes::value_in(version, "storage");
    if (storage != nullptr && storage->is_bool() && storage->get_bool()) return version;
  }
  return nullptr;
}

// Reads the annotations. Returns the fault.
std::string read_annotations(const Site& site, const json::object& annotations, Rules& out) {
  const auto source = text_in(annotations, spec_source_key);
  if (source != "cloud" && source != "robot") {
    return "annotation " + std::string(spec_source_key) + " is \"" + std::string(source) +
           "\": it must be \"cloud\" or \"robot\"";
  }
  out.swapped = source == "robot";
  const auto filter = text_in(annotations, filter_key);
  const auto filtered = parse_bool(filter);
  if (!filtered) {
    return "annotation " + std::string(filter_key) + " is \"" + std::string(filter) +
           "\": it must be \"true\" or \"false\"";
  }
  if (*filtered && site.robot_name.empty()) {
    return "annotation " + std::string(filter_key) +
           " is true, and the setting robot_name is empty";
  }
  if (*filtered) out.selector = "cloudrobotics.com/robot-name=" + site.robot_name;
  out.subtree = text_in(annotations, subtree_key);
  return {};
}

}  // namespace

Definition read_definition(const Site& site, const json::object& definition) {
  Definition out;
  const json::object* meta = object_in(definition, "metadata");
  out.name = text_in(meta, "name");
  const json::object* annotations = object_in(meta, "annotations");
  if (text_in(annotations, spec_source_key).empty() || terminating(definition)) return out;
  Rules rules;
  rules.name = out.name;
  rules.map_generation = site.map_generation;
  rules.match_uid = site.match_uid;
  out.fault = read_annotations(site, *annotations, rules);
  if (!out.fault.empty()) return out;

  const json::object* spec = object_in(definition, "spec");
  const json::object* version = storage_version(spec);
  rules.resource.group = text_in(spec, "group");
  rules.resource.resource = text_in(object_in(spec, "names"), "plural");
  rules.namespaced = text_in(spec, "scope") != "Cluster";
  if (version == nullptr || rules.resource.resource.empty()) {
    out.fault = "the definition has no storage version or no plural name";
    return out;
  }
  rules.resource.version = text_in(version, "name");
  const bool has_status = object_in(object_in(version, "subresources"), "status") != nullptr;
  rules.status = has_status ? StatusWrite::subresource : StatusWrite::whole;
  out.rules = std::move(rules);
  return out;
}

}  // namespace davit::federation
