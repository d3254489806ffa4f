#include "rights.hpp"

#include "children.hpp"
#include "decide.hpp"

namespace davit::clusters {

std::vector<kubernetes::Right> rights_of(const Configuration& configuration) {
  std::vector<kubernetes::Right> out;
  const auto need = [&](const char* verb, const cluster::Resource& of, const char* sub = "") {
    out.push_back({verb, of.group, of.version, of.resource, true, configuration.ns, sub});
  };
  for (const char* verb : {"get", "list", "watch", "patch"}) need(verb, clusters_resource);
  need("patch", clusters_resource, "status");
  for (const char* verb : {"create", "patch"}) need(verb, {"", "v1", "events"});
  if (!configuration.children_first) return out;
  for (const cluster::Resource& children : children_resources)
    for (const char* verb : {"list", "delete"}) need(verb, children);
  return out;
}

}  // namespace davit::clusters
