// What the cluster shows of one deployment, read out of the observed objects: the ReplicaSet, its
// autoscaler and its pods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "pod.hpp"
#include "site.hpp"

namespace davit::deployment {

struct ReplicaSet {
  std::string ns, name, hash;
  int64_t replicas = 1;            // Kubernetes' default
  bool replicas_of_other = false;  // somebody wrote spec.replicas in place: an autoscaler, a person
  bool terminating = false;
  bool seen = true;     // its controller has acted on the present spec
  int64_t port = 0;     // of the template's container; 0: unknown
  std::string trouble;  // why it cannot make pods
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

// Objects of other kinds, without a name or a namespace, and what is no object, are passed over, as
// are autoscalers where the site has none. `objects` must outlive the answer.
Observed read_observed(const boost::json::array& objects, const Site&);

// Namespace and name of the ReplicaSet that an object belongs to, by labels and ownership;
// NOT_FOUND.
Result<Named> attribute(const boost::json::value& object, const Site& site);

// The pod's address as it is reported.
std::string address_of(const Pod&, int64_t port, const Site&);

}  // namespace davit::deployment
