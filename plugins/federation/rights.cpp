#include "rights.hpp"

namespace davit::federation {
namespace {

kubernetes::Right right(const char* verb, const cluster::Resource& of, const std::string& ns = "",
                        const char* subresource = "") {
  return {verb, of.group, of.version, of.resource, true, ns, subresource};
}

const cluster::Resource definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
const cluster::Resource claimed{"coordination.k8s.io", "v1", "leases"};
const cluster::Resource namespaces{"", "v1", "namespaces"};

}  // namespace

std::vector<NeededRight> common_rights(const Configuration& configuration) {
  std::vector<NeededRight> out;
  if (configuration.definitions != "none") {
    const auto end = configuration.definitions == "upstream" ? EndOf::upstream : EndOf::downstream;
    for (const char* verb : {"list", "watch"}) out.push_back({end, right(verb, definitions)});
  }
  for (const EndOf end : {EndOf::upstream, EndOf::downstream})
    out.push_back({end, right("get", namespaces), true});
  if (configuration.site.robot_name.empty() || configuration.claim_namespace.empty()) return out;
  for (const char* verb : {"list", "watch", "create", "update"})
    out.push_back({EndOf::upstream, right(verb, claimed, configuration.claim_namespace), true});
  return out;
}

std::vector<NeededRight> rights_of(const Rules& rules, const std::string& ns) {
  std::vector<NeededRight> out;
  const EndOf source = rules.source(), target = rules.target();
  const cluster::Resource& of = rules.resource;
  for (const char* verb : {"get", "list", "watch"}) out.push_back({source, right(verb, of, ns)});
  if (rules.status == StatusWrite::subresource)
    out.push_back({source, right("update", of, ns, "status")});
  if (rules.status == StatusWrite::whole) out.push_back({source, right("update", of, ns)});
  for (const char* verb : {"get", "list", "watch", "create", "update", "delete"})
    out.push_back({target, right(verb, of, ns)});
  return out;
}

std::string roles_of(const Configuration& configuration) {
  std::vector<NeededRight> all = common_rights(configuration);
  for (const Rules& rules : configuration.resources) {
    std::vector<std::string> places = configuration.namespaces;
    if (places.empty() || !rules.namespaced) places = {""};
    for (const std::string& ns : places)
      for (NeededRight& needed : rights_of(rules, ns)) all.push_back(std::move(needed));
  }
  std::string out;
  for (const EndOf end : {EndOf::upstream, EndOf::downstream}) {
    std::vector<kubernetes::Right> rights;
    for (const NeededRight& needed : all)
      if (needed.end == end) rights.push_back(needed.right);
    const bool up = end == EndOf::upstream;
    out += std::string(out.empty() ? "" : "---\n") + "# in the cluster of the instance \"" +
           (up ? configuration.upstream : configuration.downstream) + "\"\n" +
           kubernetes::cluster_role("davit-federation", rights);
  }
  if (configuration.definitions != "none")
    out +=
        "# and in both what the definitions ask for that take part by their annotations: davit "
        "federation check\n";
  return out;
}

}  // namespace davit::federation
