// Finds out the resource of a kind, from the API server's discovery documents. It caches resource
// lists. Pure.
#pragma once

#include <davit/cluster.hpp>
#include <map>

namespace davit::cluster_kubernetes {

class Discovery {
 public:
  // "/api/v1" or "/apis/apps/v1"; "/apis/apps" if the version is not known.
  static std::string path(const std::string& group, const std::string& version);
  // The preferred version in a group's document; empty: it is not such a document.
  static std::string preferred(const std::string& body);

  // Where the objects of a resource are, by the list of resources; unknown: it does not name it.
  enum class Scope { unknown, cluster, namespaced };
  static Scope scope(const std::string& body, const std::string& resource);

  // Stores the list of resources of a group's version.
  Result<> learn(const std::string& group, const std::string& version, const std::string& body,
                 std::chrono::nanoseconds now);
  // The answer of `discover`; nothing: the kind is not known, or no longer.
  std::optional<std::string> find(const std::string& group, const std::string& version,
                                  const std::string& kind, std::chrono::nanoseconds now) const;
  void set_preferred(const std::string& group, const std::string& version) {
    preferred_[group] = version;
  }
  std::string preferred_of(const std::string& group) const;

 private:
  struct Resource {
    std::string resource;
    bool namespaced;
    std::chrono::nanoseconds learned;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, kind
  std::map<Key, Resource> resources_;
  std::map<std::string, std::string> preferred_;
};

}  // namespace davit::cluster_kubernetes
