// What the API server's discovery documents say about a kind. Pure; the cache in it remembers
// resource lists.
#pragma once

#include <davit/cluster.hpp>
#include <map>

namespace davit::cluster_kubernetes {

class Discovery {
 public:
  // "/api/v1" or "/apis/apps/v1"; "/apis/apps" when the version is not known.
  static std::string path(const std::string& group, const std::string& version);
  // The preferred version in a group's document; empty: it is none.
  static std::string preferred(const std::string& body);

  // Keeps a group version's list of resources.
  Result<> learn(const std::string& group, const std::string& version, const std::string& body,
                 std::chrono::nanoseconds now);
  // The answer of `discover`, or nothing when it is not known (any more).
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
