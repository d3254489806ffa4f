// Somebody else's edit of a ReplicaSet's pod template. A ReplicaSet keeps the pods it has: those it
// made of the edited template outlive the repair, and they carry our hash, for the edit left it in
// place. So the repaired template gets a hash of its own. Which older pods then count as made of
// the template, made_of.hpp decides: those that look like it when the edit touched only what is
// kept of pods, else none; the Deployment controller replaces all after every edit. Pure.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>

#include "observed.hpp"

namespace davit::deployment {

// The hash to put into the pod template that `hash` is the hash of:
//   `hash`             as long as nobody has edited the template in the cluster
//   "<before>~<edit>"  after an edit of what is kept of pods
//   "<hash>-<edit>"    after any other edit
//   "~<hash>"          when the template in the cluster has no hash but the same values
// It stays until `hash` changes.
std::string hash_after_edits(const std::string& hash, const boost::json::object& pod_template,
                             const ReplicaSet& there);

}  // namespace davit::deployment
