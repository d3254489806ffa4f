// The observed state of one sentinel, read from the observed objects: the counts of its Deployment,
// its pods, and the names of all owned objects. Reconcile compares it with the message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "kubernetes/pod.hpp"
#include "site.hpp"

namespace davit::sentinel {

using kubernetes::Pod;

struct Deployment {
  std::string hash;     // of its template; empty: not made by us
  bool seen = false;    // the counts are of its present spec
  bool paused = false;  // somebody has paused it: it makes no pods of a new template
  int64_t replicas = 0, updated = 0, available = 0;
  std::string trouble;  // why it cannot make pods or makes no progress
};

// An owned object. `order` is its place in the order of deletion.
struct Owned {
  int order = 0;
  const char* group = "";
  const char* version = "";
  const char* resource = "";
  const char* kind = "";
  std::string ns, name;
  bool terminating = false;
};

struct Observed {
  std::optional<Deployment> deployment;
  std::vector<Owned> owned;  // sorted by order
  std::vector<Pod> pods;     // sorted by name
  std::string policy_fault;  // why Cilium ignores the gossip policy; empty: it does not
  bool nothing() const { return owned.empty() && pods.empty(); }
  bool has(std::string_view kind, std::string_view name) const;
};

// Skips objects of other kinds, objects without a name or a namespace, values that are no objects,
// and objects that the site does not want.
Observed read_observed(const boost::json::array& objects, const Site&);

// Id, namespace and name of the sentinel that an object belongs to, by labels and names. NOT_FOUND:
// it belongs to none.
Result<Named> attribute(const boost::json::value& object, const Site& site);

}  // namespace davit::sentinel
