// Rules: how the objects of one resource travel between two clusters. They are read of the
// annotations of a CustomResourceDefinition or of the configuration. Every decision follows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <davit/cluster.hpp>

namespace davit::federation {

// How a status is written upstream.
enum class StatusWrite {
  none,         // no status travels
  subresource,  // the resource has /status
  whole,        // the status is a field of the object like others
};

// A cluster, as the settings call its instance.
enum class EndOf : uint8_t { upstream, downstream };

struct Rules {
  std::string name;  // for people and metrics: that of the CRD, "robots.registry.cloudrobotics.com"
  cluster::Resource resource;
  bool namespaced = true;
  bool swapped = false;  // the spec goes from the instance `downstream` to the instance `upstream`
  std::string selector;  // of labels, in both clusters
  std::vector<std::string> fields{"spec"};  // top-level ones that go downstream
  StatusWrite status = StatusWrite::subresource;
  std::string subtree;         // the member of the status that goes up; empty: all of it
  bool map_generation = true;  // observedGeneration is translated
  bool match_uid = true;       // an object that was made anew upstream is another object
  bool adopt = true;           // false: objects downstream that were not made here are left alone
  // Which cluster the spec comes from, by the uid of its namespace kube-system. Empty: it is not
  // known, or no other cluster has objects of this resource in the same place.
  std::string origin;

  // Where the spec comes from, and where it goes.
  EndOf source() const { return swapped ? EndOf::downstream : EndOf::upstream; }
  // Whether several clusters may have their objects in the one where the spec goes: several robots
  // send theirs to one cloud, or what others have made there is to be left alone.
  bool shares_target() const { return swapped || !adopt; }
  EndOf target() const { return swapped ? EndOf::upstream : EndOf::downstream; }

  bool operator==(const Rules&) const = default;
};

}  // namespace davit::federation
