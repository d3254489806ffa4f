// Restriction: the namespaces that an agent keeps to (setting `namespaces`), so that a Role in each
// of them is enough. It says what may be asked for, and of which parts a watch consists. Pure.
#pragma once

#include <davit/cluster.hpp>

namespace davit::cluster_kubernetes {

class Restriction {
 public:
  // None: there is no restriction.
  explicit Restriction(std::vector<std::string> namespaces) : namespaces_(std::move(namespaces)) {}

  const std::vector<std::string>& namespaces() const { return namespaces_; }
  // The same as a JSON array.
  std::string list() const;
  // PERMISSION_DENIED: the request leaves the namespaces.
  Result<> allows(const cluster::Request& request) const;
  // The namespaces whose watches make up this one; an empty one means all. PERMISSION_DENIED: the
  // watch leaves the namespaces.
  Result<std::vector<std::string>> parts(const cluster::WatchRequest& request) const;
  // The same answer for what only the API server's discovery shows.
  std::string cluster_scoped(const std::string& resource) const;
  // A Status as an API server's, so that callers judge it as one of its refusals.
  static std::string status(int http, const std::string& message);

 private:
  bool has(const std::string& ns) const;
  std::string shown() const;

  const std::vector<std::string> namespaces_;
};

}  // namespace davit::cluster_kubernetes
