// Everything that the kind decides about a Cilium network policy: it goes into the cluster as it
// was given, under our name and labels. The plugin calls these functions. They are pure: JSON in,
// JSON out.
#pragma once

#include <string>
#include <string_view>

#include <davit/kind.hpp>

#include "kubernetes/labels.hpp"

namespace davit::cilium {

struct Site {
  kubernetes::Labels labels;
};

inline constexpr const char* component_policy = "ciliumnetworkpolicy";

Result<Named> identify(std::string_view apply);
Result<> validate(std::string_view apply);
// Some peers stop at a policy without apiVersion or kind. The message with both added; empty: the
// message is complete as it is.
Result<std::string> apply_message(std::string_view apply);
// True when the message has a policy with content. A record without one is held.
bool has_policy(std::string_view apply);
Result<std::string> reconcile(std::string_view input, const Site&);
Result<Named> attribute(std::string_view object, const Site&);
std::string delete_message(const Named&);

}  // namespace davit::cilium
