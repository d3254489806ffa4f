// Renders a workload as Kubernetes objects: its controller, the Service of a StatefulSet, its
// autoscaler and its disruption budget. Reconcile puts them into its plan. Members have a fixed
// order, so the same workload gives the same bytes. Pure.
#pragma once

#include <optional>
#include <string>

#include <boost/json/fwd.hpp>

#include "workload.hpp"

namespace davit::deployment {

// The pod template without its hash.
boost::json::object render_template(const Workload&, const Site&);

// The labels of the controller. Every pod has them, too.
boost::json::object render_labels(const Workload&, const Site&);

// The ReplicaSet, Deployment or StatefulSet. `pod_template` comes from render_template; `hash` goes
// into its annotations. `replicas` nullopt: the field is left to the autoscaler.
boost::json::object render_controller(const Workload&, const Site&,
                                      boost::json::object pod_template, const std::string& hash,
                                      std::optional<int64_t> replicas);
// The headless Service that gives the pods of a StatefulSet their names in the DNS.
boost::json::object render_service(const Workload&, const Site&);

// Call it only for a workload with autoscaling. `scales`: of which controller.
boost::json::object render_autoscaler(const Workload&, const Site&, Controller scales);

// Call it only for a workload with a disruption budget.
boost::json::object render_budget(const Workload&, const Site&);

// Whether the workload's secrets are in a Secret, which its pods get as variables.
bool has_secret(const Workload&, const Site&);
// The steps that apply the Secret, whose values the applier resolves, and the ServiceAccount of the
// pods, unless they have another one. Both go with the controller of this uid; empty: there is none
// yet.
boost::json::array render_secret(const Workload&, const Site&, const std::string& owner_uid);
// The steps that apply the namespace's pull secrets, which all of its workloads share.
boost::json::array render_pull_secrets(const Workload&, const Site&);

}  // namespace davit::deployment
