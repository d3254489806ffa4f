// Rules: how the objects of one resource travel between two clusters. They are read of the
// annotations of a CustomResourceDefinition or of the configuration. Every decision follows them.
#pragma once

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

  bool operator==(const Rules&) const = default;
};

}  // namespace davit::federation
