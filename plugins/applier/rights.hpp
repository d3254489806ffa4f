// Rights: what the agent's account must be allowed to do for a kind, as the kind's description says
// it, and how the API server is asked whether it is (SelfSubjectAccessReview). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind.hpp>

namespace davit::applier {

// "replicasets.apps".
std::string name_of(const kind::Resource& resource);

struct Right {
  std::string verb;  // of RBAC: "patch"
  std::string group, version, resource;
  auto operator<=>(const Right&) const = default;
  bool operator==(const Right&) const = default;
  // "replicasets.apps"
  std::string name() const { return group.empty() ? resource : resource + "." + group; }
};

// Watched resources are listed and watched; owned ones are read, made, changed and deleted; ensured
// ones are read and made. In all namespaces. In the order of the description.
std::vector<Right> rights_of(const kind::Description& description);

cluster::Request review_of(const Right& right);
// Nothing: that was no answer.
std::optional<bool> allowed(const cluster::Response& answer);

// The verbs that are missing, by resource ("replicasets.apps": "list, watch").
using Missing = std::map<std::string, std::string>;
void add(Missing& missing, const Right& right);
// "may not list, watch replicasets.apps (group "apps") in all namespaces"
std::string describe(const std::string& name, const std::string& verbs);

}  // namespace davit::applier
