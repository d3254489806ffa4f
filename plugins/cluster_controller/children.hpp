// Children: deletes the machines of a Cluster before the cluster goes: MachineDeployments, then
// MachineSets, then Machines, that the Cluster owns. It reads from the API server and not from a
// cache. What is not installed has no objects.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include <boost/json/object.hpp>
#include <davit/cluster.hpp>

namespace davit::clusters {

// In the order in which they go.
inline const cluster::Resource children_resources[] = {
    {"cluster.k8s.io", "v1alpha1", "machinedeployments"},
    {"cluster.k8s.io", "v1alpha1", "machinesets"},
    {"cluster.k8s.io", "v1alpha1", "machines"}};

class Children : public std::enable_shared_from_this<Children> {
 public:
  // Sends a request, and answers on the strand.
  using Ask = std::function<void(cluster::Request, std::function<void(const cluster::Response&)>)>;
  // How many are left, after each was asked to go. An error: one could not be listed or deleted.
  using Done = std::function<void(const Result<size_t>&)>;

  Children(Ask ask, const boost::json::object& cluster);
  void remove(Done done);

 private:
  void list(size_t at, std::string next);
  void listed(size_t at, const cluster::Response& r);
  void remove_next();

  const Ask ask_;
  std::string ns_, name_, uid_;
  Done done_;
  size_t left_ = 0;
  std::deque<cluster::Request> deletes_;
  std::string failed_;
};

}  // namespace davit::clusters
