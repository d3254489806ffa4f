// From a workload to the Kubernetes objects that are it: namespace, ReplicaSet, autoscaler. Members
// stand in a fixed order, so the same workload is the same bytes.
#pragma once

#include <optional>
#include <string>

#include <boost/json/fwd.hpp>

#include "workload.hpp"

namespace davit::deployment {

boost::json::object render_namespace(const Workload&, const Site&);

// The pod template without its hash: what `template_hash` is computed of.
boost::json::object render_template(const Workload&, const Site&);
std::string template_hash(const boost::json::object& pod_template);

// Labels of the ReplicaSet, and the part of them that every pod has too.
boost::json::object render_labels(const Workload&, const Site&);

// `pod_template` from render_template; `hash` goes into its annotations. `replicas` none: left to
// the autoscaler.
boost::json::object render_replica_set(const Workload&, const Site&,
                                       boost::json::object pod_template, const std::string& hash,
                                       std::optional<int64_t> replicas);

// Only with autoscaling.
boost::json::object render_autoscaler(const Workload&, const Site&);

}  // namespace davit::deployment
