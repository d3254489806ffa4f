// Decides which pods were made of the wanted template. A pod carries the hash of the template that
// it was made of. Where the hash is not enough, the kept fields of the pod decide: each container's
// image, command and limits. The wanted hash tells which pods may be judged by these fields:
//
//   "H"    none: every pod with another hash is stale
//   "H~e"  pods with hash "H". Somebody's edit "e" of kept fields only has been undone
//   "~H"   pods without a hash. The ReplicaSet was another program's, with the same template
//
// Pods with the wanted hash itself are never judged by their fields: a cluster's admission may have
// changed the fields, and then no pod would ever be right. Reconcile calls it. Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "kubernetes/pod.hpp"

namespace davit::deployment {

using kubernetes::Pod;

inline constexpr char judged_by_looks = '~';

// The hash without the mark of a ReplicaSet that was another program's.
std::string_view own_part(std::string_view hash);

// Sets `stale` of each pod.
void mark_stale(std::vector<Pod>&, std::string_view wanted_hash,
                const boost::json::object& pod_template);

// The template without those fields that the watch keeps of pods.
boost::json::object not_kept(boost::json::object pod_template);

}  // namespace davit::deployment
