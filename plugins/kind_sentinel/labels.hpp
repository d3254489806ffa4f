// The labels, annotations and the selector by which the kind's objects are known in the cluster.
// Rendering writes them and the readers of observed objects look for them.
#pragma once

#include <string>
#include <string_view>

#include "kubernetes/labels.hpp"

namespace davit::sentinel::labels {

using namespace kubernetes::labels;

inline constexpr const char* component_sentinel = "sentinel";
inline constexpr const char* component_gossip = "gossip-lan";

// Follows the sentinel's name in the names of its gossip objects.
inline constexpr std::string_view gossip_suffix = "-gossip-lan";

// Selects the objects of all components, because all of them have the id.
inline std::string selector(const kubernetes::Labels& names) {
  return names.selector() + "," + names.id("sentinel.id");
}

}  // namespace davit::sentinel::labels
