// What the cluster shows of one deployment, read out of the observed objects: the ReplicaSet, its
// autoscaler and its pods, with the readiness table of the later original (a container that is not
// ready is pending, not failed; dead and terminating pods are no instances).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::deployment {

struct Pod {
  std::string name, ns;
  std::string ip;        // empty: none yet
  std::string hash;      // of the template it was made from; empty: not one of ours
  std::string status;    // pending, running or inactive; "failed" and "done" are no instances
  std::string trouble;   // why it cannot become ready; empty: nothing is known to be wrong
  bool failing = false;  // `trouble` will not pass by waiting
  bool terminating = false;
  int64_t cpu_millicores = 0, memory_mib = 0;

  bool active() const { return !terminating && status != "failed" && status != "done"; }
  bool ready() const { return active() && status == "running"; }
};

struct ReplicaSet {
  std::string ns, name, hash;
  int64_t replicas = 1;            // Kubernetes' default
  bool replicas_of_other = false;  // somebody wrote spec.replicas in place: an autoscaler, a person
  bool terminating = false;
  int64_t port = 0;                                   // of the template's container; 0: unknown
  std::string trouble;                                // why it cannot make pods
  const boost::json::object* pod_template = nullptr;  // in what was read; NULL: none
  std::string template_owners;  // who else set fields of it, and when; empty: nobody
};

struct Autoscaler {
  std::string ns, name;
  bool terminating = false;
};

struct Observed {
  std::optional<ReplicaSet> replica_set;
  std::optional<Autoscaler> autoscaler;
  std::vector<Pod> pods;  // by name
  bool nothing() const { return !replica_set && !autoscaler && pods.empty(); }
};

// Objects of other kinds, without a name or a namespace, and what is no object, are passed over.
// `objects` must outlive the answer.
Observed read_observed(const boost::json::array& objects);

// Namespace and name of the ReplicaSet that an object belongs to, by labels and ownership;
// NOT_FOUND.
Result<Named> attribute(const boost::json::value& object, const Site& site);

// The pod's address as it is reported.
std::string address_of(const Pod&, int64_t port, const Site&);

}  // namespace davit::deployment
