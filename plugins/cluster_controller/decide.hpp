// What the controller does next with one Cluster: the steps of the v1alpha1 controller, and which
// actuator builds it. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <davit/cluster.hpp>

#include "settings.hpp"

namespace davit::clusters {

namespace json = boost::json;

inline const cluster::Resource clusters_resource{"cluster.k8s.io", "v1alpha1", "clusters"};
inline constexpr std::string_view finalizer = "cluster.cluster.k8s.io";
// With any value, nothing is called for this Cluster: neither to build it nor to remove it.
inline constexpr std::string_view paused_annotation = "cluster.x-k8s.io/paused";

enum class Step {
  nothing,        // it is being deleted, and nothing of it is left to this controller
  add_finalizer,  // and stop: the actuator is called when the finalizer is stored
  paused,
  remove,
  reconcile,
};

Step step_of(const json::object& cluster);

// metadata.finalizers with ours at the end, or without any copy of it. Those of others keep their
// order.
json::array with_finalizer(const json::object& cluster);
json::array without_finalizer(const json::object& cluster);

// The provider that builds the cluster, as an index of `providers`. Who has begun a cluster goes on
// with it: status.actuator names it. INVALID_ARGUMENT: what the Cluster says is no sense, or is of
// another provider. NOT_FOUND: no provider is configured for it.
Result<size_t> provider_of(const std::vector<Provider>& providers, const json::object& cluster);
// Those that have to remove it: the one that has begun it, or else the one that would build it. If
// neither can be told, all of them: an actuator that has nothing of the cluster removes nothing.
Result<std::vector<size_t>> removers_of(const std::vector<Provider>& providers,
                                        const json::object& cluster);

}  // namespace davit::clusters
