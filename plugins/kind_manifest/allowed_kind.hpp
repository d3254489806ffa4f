// One kind of objects that a site allows in manifests: an entry of the setting `kinds`, such as
// "apps/v1/Deployment". The resource's name follows from the kind, or is given. Pure.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::manifest {

struct AllowedKind {
  std::string group, version, kind;
  std::string resource;  // "deployments"

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // As the setting has it: "apps/v1/Deployment".
  std::string text() const { return api_version() + "/" + kind; }
};

// "GROUP/VERSION/KIND" or "VERSION/KIND", with "=RESOURCE" behind it where the rule of plurals is
// wrong. The error's message is about the entry.
Result<AllowedKind> read_allowed_kind(std::string_view text);

// The name of the resource by the rule that nearly all kinds keep: "networkpolicies", "ingresses".
std::string resource_of(std::string_view kind);

// Whether Kubernetes keeps these outside of namespaces. Definitions of a site's own are not known.
bool is_cluster_scoped(std::string_view group, std::string_view kind);

// Where an object stands in the order of applying: what others need comes first. Deleting goes the
// other way round.
int rank_of(std::string_view group, std::string_view kind);

}  // namespace davit::manifest
