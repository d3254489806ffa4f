// Detects somebody else's edit of a ReplicaSet's pod template and marks it in the template's hash.
// A ReplicaSet keeps its pods. So pods that it made of the edited template outlive the repair, and
// they carry our hash, because the edit left the hash in place. Therefore the repaired template
// gets a hash of its own. made_of.hpp decides which older pods then count as made of the template.
// If the edit touched only what is kept of pods, it is those that look like the template; otherwise
// none, as the Deployment controller replaces all pods after every edit. Reconcile calls it. Pure.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>

#include "observed.hpp"

namespace davit::deployment {

// The hash to put into the pod template whose own hash is `hash`:
//   `hash`             while nobody has edited the template in the cluster
//   "<before>~<edit>"  after an edit of what is kept of pods
//   "<hash>-<edit>"    after any other edit
//   "~<hash>"          when the template in the cluster has no hash but the same values
// It stays the same until `hash` changes. Then it is "<hash>-<edits>" if the template before it was
// edited, so that a record that goes back does not count pods of the edited template.
std::string hash_after_edits(const std::string& hash, const boost::json::object& pod_template,
                             const ObservedController& there);

}  // namespace davit::deployment
