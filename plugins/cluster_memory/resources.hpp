// The resources of the simulated API: a table of the built-in ones, and custom ones from
// CustomResourceDefinitions. All other resources get names by the convention of Kubernetes.
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
  bool status = false;       // has a status subresource; plain writes do not change status
  bool label_names = false;  // names are RFC 1123 labels, not subdomains
};

class Resources {
 public:
  // Finds a resource by its name. An unknown one counts as a custom resource with an empty kind.
  ResourceType by_resource(std::string_view group, std::string_view version,
                           std::string_view resource) const;
  // Finds a resource by its kind. An unknown kind gets the conventional plural.
  ResourceType by_kind(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  // Learns a resource from a CustomResourceDefinition. Ignores other objects.
  void learn(const boost::json::object& definition);

 private:
  std::map<std::pair<std::string, std::string>, ResourceType> custom_;  // by (group, resource)
};

}  // namespace davit::cluster_memory
