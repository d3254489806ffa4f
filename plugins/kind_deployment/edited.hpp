// Somebody else's edit of a ReplicaSet's pod template. A ReplicaSet keeps the pods it has: those it
// made of the edited template outlive the repair, and they carry our hash, for the edit left it in
// place. So the repaired template gets a hash of its own and every older pod is stale; the
// Deployment controller answers an edit in the same way. Pure.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>

#include "observed.hpp"

namespace davit::deployment {

// The hash to put into the pod template that `hash` is the hash of: `hash`, or when the template in
// the cluster is or was edited "<hash>-<the edit>". It stays until `hash` changes.
std::string hash_after_edits(const std::string& hash, const boost::json::object& pod_template,
                             const ReplicaSet& there);

}  // namespace davit::deployment
