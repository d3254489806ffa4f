// What a document of a kind may say, from the kind's message and the comments of its fields, for
// `davit explain KIND.FIELD`. Pure.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::v1 {
class KindFields;
}

namespace davit::host {

// The text for people. `path` is behind the kind: "" for all fields of the spec, "autoscaling", or
// "spec.autoscaling.max_replicas". NOT_FOUND: there is no such field; the message says what may be
// meant. INVALID_ARGUMENT: the descriptor set is damaged.
Result<std::string> explain_kind(const v1::KindFields& kind, const std::string& path);

}  // namespace davit::host
