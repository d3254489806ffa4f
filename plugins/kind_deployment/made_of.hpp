// Which pods were made of the wanted template. A pod carries the hash of the template that it was
// made of. Where that says too little, what the watch keeps of the pod decides: each container's
// image, command and limits. The wanted hash tells which pods may be judged so:
//
//   "H"    none: every pod with another hash is stale
//   "H~e"  pods with hash "H". Somebody's edit "e" has been undone, and it touched only what is
//   kept
//   "~H"   pods without a hash. The ReplicaSet was another program's, with the same template
//
// Pods with the wanted hash itself are never judged by what they look like: a cluster's admission
// may have changed that, and then no pod would ever be right. Pure.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "pod.hpp"

namespace davit::deployment {

inline constexpr char judged_by_looks = '~';

// A hash without the mark of a ReplicaSet that was another program's.
std::string_view own_part(std::string_view hash);

// Sets `stale` of each pod.
void mark_stale(std::vector<Pod>&, std::string_view wanted_hash,
                const boost::json::object& pod_template);

// The template without what is kept of its pods.
boost::json::object not_kept(boost::json::object pod_template);

}  // namespace davit::deployment
