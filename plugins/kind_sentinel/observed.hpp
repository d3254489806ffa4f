// What the cluster shows of one sentinel, read out of the observed objects: its Deployment's
// counts, the pods, and the names of all that is owned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "pod.hpp"
#include "site.hpp"

namespace davit::sentinel {

struct Deployment {
  std::string hash;     // of its template; empty: not one of ours
  bool seen = false;    // the counts are of its present spec
  bool paused = false;  // by somebody: it makes no pods of a new template
  int64_t replicas = 0, updated = 0, available = 0;
  std::string trouble;  // why it cannot make pods or gets nowhere
};

// An owned object, in the order in which they are removed.
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
  std::vector<Owned> owned;  // by order
  std::vector<Pod> pods;     // by name
  std::string policy_fault;  // why Cilium takes no notice of the gossip policy; empty: it does
  bool nothing() const { return owned.empty() && pods.empty(); }
  bool has(std::string_view kind, std::string_view name) const;
};

// Objects of other kinds, without a name or a namespace, and what is no object, are passed over, as
// are those that the site does not want.
Observed read_observed(const boost::json::array& objects, const Site&);

// Namespace and name of the sentinel that an object belongs to, by labels and names; NOT_FOUND.
Result<Named> attribute(const boost::json::value& object, const Site& site);

}  // namespace davit::sentinel
