// The labels and annotations by which the kind's objects are known in the cluster.
#pragma once

#include "kubernetes/labels.hpp"

namespace davit::deployment::labels {

using namespace kubernetes::labels;

inline constexpr const char* component_deployment = "deployment";
inline constexpr const char* component_sentinel = "sentinel";  // of the pods to be near to
// Annotations. Of a Secret and a ServiceAccount: the name of their workload. Of a pod template: the
// hash of what the workload's secrets are decrypted from.
inline constexpr const char* workload = "davit.dev/workload";
// A stamp of the applier: who has it is not another program's.
inline constexpr const char* region_stamp = "davit.dev/region";
inline constexpr const char* secrets_hash = "davit.dev/secrets-hash";

}  // namespace davit::deployment::labels
