// The observed state of one deployment, read from the observed objects: its controllers (mostly
// one), its autoscaler and its pods. Reconcile compares it with the workload.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "controllers.hpp"
#include "kubernetes/pod.hpp"
#include "site.hpp"

namespace davit::deployment {

using kubernetes::Pod;

// A ReplicaSet, Deployment or StatefulSet.
struct ObservedController {
  std::string ns, name, uid, hash;
  int64_t replicas = 1;            // Kubernetes' default
  bool replicas_of_other = false;  // an autoscaler or a person wrote spec.replicas in place
  bool terminating = false;
  bool stamped = false;          // a region's agent has applied it
  bool seen = true;              // the controller has acted on the present spec
  std::optional<int64_t> ready;  // pods, as its status says; nullopt: it has no status
  int64_t port = 0;              // of the template's container; 0: unknown
  kubernetes::Trouble trouble;   // why it cannot make pods
  // Point into what was read. NULL: none.
  const boost::json::object *spec = nullptr, *pod_template = nullptr;
  std::string template_owners;  // other managers of its fields, and when they wrote; empty: none
};

// An object of which no more counts than that it is there.
struct Present {
  std::string ns, name;
  bool terminating = false;
};

struct Observed {
  std::map<Controller, ObservedController> controllers;
  std::optional<Present> autoscaler, secret, account, service, budget;
  std::vector<Pod> pods;  // sorted by name
  bool nothing() const {
    return controllers.empty() && !autoscaler && !secret && !account && !service && !budget &&
           pods.empty();
  }
  // NULL: there is none.
  const ObservedController* find(Controller c) const {
    const auto found = controllers.find(c);
    return found == controllers.end() ? nullptr : &found->second;
  }
  // The same, but for one that is being deleted.
  const ObservedController* staying(Controller c) const {
    const auto* there = find(c);
    return there == nullptr || there->terminating ? nullptr : there;
  }
};

// Skips objects of other kinds, objects without a name or a namespace, values that are no objects,
// and what the site does not use. `objects` must outlive the result.
Observed read_observed(const boost::json::array& objects, const Site&);

// Id, namespace and name of the deployment that an object belongs to, by labels and ownership.
// NOT_FOUND: it belongs to none.
Result<Named> attribute(const boost::json::value& object, const Site& site);

// The pod's address as the status reports it.
std::string address_of(const Pod&, int64_t port, const Site&);

}  // namespace davit::deployment
