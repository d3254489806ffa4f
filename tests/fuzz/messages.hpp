// The schema of every message that the server accepts: both wires, and the JSON bytes fields the
// kinds declare.
#pragma once

#include "codec/schema.hpp"
#include "davit_ctrl_descriptors.h"
#include "davit_wire_descriptors.h"
#include "require.hpp"

namespace davit::fuzz {

inline const davit_schema& schema_of(std::string_view type) {
  static const auto make = [](davit_bytes set, const std::vector<std::string>& json_fields) {
    auto schema = host::make_schema(view(set), json_fields);
    require(schema.ok(), "the descriptor set loads");
    return std::move(*schema);
  };
  static const auto davit = make(davit_wire_descriptors(), {});
  static const auto ctrl =
      make(davit_ctrl_descriptors(), {"ctrl.v1.ApplyDeployment.healthcheck",
                                      "ctrl.v1.ApplyDeployment.encrypted_environment_variables",
                                      "ctrl.v1.ApplyCiliumNetworkPolicy.policy"});
  return type.starts_with("ctrl.") ? *ctrl : *davit;
}

}  // namespace davit::fuzz
