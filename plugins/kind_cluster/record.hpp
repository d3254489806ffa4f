// The message of a record (davit.v1.ApplyCluster), typed and checked. The server checks it when a
// record is written, and the agent before it applies one. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::cluster_record {

namespace json = boost::json;

// Keys of labels and annotations that are Davit's own.
inline constexpr std::string_view own_prefix = "davit.dev/";
// With any value, the controller calls no actuator for the Cluster.
inline constexpr const char* paused_annotation = "cluster.x-k8s.io/paused";

struct Record {
  std::string id, ns, name;
  json::object labels, annotations;  // as they were given
  std::vector<std::string> services, pods;
  std::string service_domain;
  std::optional<json::object> provider_spec;  // providerSpec.value
  std::optional<json::object> machine_class;  // providerSpec.valueFrom.machineClass
  bool paused = false;
};

// INVALID_ARGUMENT: `where` is the field's path ("network.pods[1]").
Result<Record> read_record(const json::object& message, const Site&);
// The record's names alone, not checked.
Result<Named> identify(std::string_view apply);
Result<> validate(std::string_view apply, const Site&);

}  // namespace davit::cluster_record
