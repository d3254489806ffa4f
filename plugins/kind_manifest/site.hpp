// A site's choices about manifests: one plain struct, read once from the instance's settings. The
// README explains each setting.
#pragma once

#include <string>
#include <vector>

#include <davit/host.hpp>

#include "allowed_kind.hpp"

namespace davit::manifest {

// What any account may get. Secrets, roles and custom resources are not among them.
std::vector<AllowedKind> usual_kinds();

struct Site {
  std::vector<AllowedKind> kinds = usual_kinds();
  std::vector<std::string> namespaces = {};  // empty: all
  std::vector<std::string> keyrings = {};    // whose values the Secrets of a manifest may have
  bool ingress_needs_address = true;

  // In any version; NULL: not allowed.
  const AllowedKind* find(std::string_view group, std::string_view kind) const;
};

// Only for the plugin's constructor. The host notes the faults and then refuses the instance.
Site read_site(const Host& host);

}  // namespace davit::manifest
