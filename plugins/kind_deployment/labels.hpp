// The labels and annotations by which the kind's objects are known in the cluster.
#pragma once

#include "kubernetes/labels.hpp"

namespace davit::deployment::labels {

using namespace kubernetes::labels;

inline constexpr const char* component_deployment = "deployment";
inline constexpr const char* component_sentinel = "sentinel";  // of the pods to be near to

}  // namespace davit::deployment::labels
