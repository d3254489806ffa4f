// What the simulated API serves: a table of the built-in resources, the custom ones it was told
// about with a CustomResourceDefinition, and for all others the names that Kubernetes' own
// convention gives them.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <string_view>

namespace davit::cluster_memory {

struct ResourceType {
  std::string group, version, resource, kind;
  bool namespaced = true;
  bool built_in = false;
  bool status = false;       // has a status subresource: plain writes do not touch status
  bool label_names = false;  // names are RFC 1123 labels, not subdomains
};

class Resources {
 public:
  // By resource name; an unknown one is taken for a custom resource, its kind left empty.
  ResourceType by_resource(std::string_view group, std::string_view version,
                           std::string_view resource) const;
  // By kind; an unknown one gets the conventional plural.
  ResourceType by_kind(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  // Learns from a CustomResourceDefinition; what is not one is ignored.
  void learn(const boost::json::object& definition);

 private:
  std::map<std::pair<std::string, std::string>, ResourceType> custom_;  // by (group, resource)
};

}  // namespace davit::cluster_memory
