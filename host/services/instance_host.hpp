// The host as one instance sees it: the davit_host that the plugin gets, and the state that the
// services need about the instance. The assembly creates one per instance before `create`. It
// outlives `destroy`.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "core.hpp"

namespace davit::host {

class CommitQueues;
class Faults;
class Pool;
class Services;
struct Node;

// Finds other instances. The assembly implements it for the look-up service.
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  virtual Result<davit_ref> find(std::string_view finder, std::string_view instance,
                                 std::string_view interface) = 0;
  virtual std::vector<davit_ref> each(std::string_view finder, std::string_view interface) = 0;
  // The pool of an instance, for blocking calls into it; nullptr if no instance has that name.
  // [any]
  virtual Pool* pool(std::string_view instance) = 0;
};

struct InstanceHost {
  davit_host abi{};  // first: the plugin has a pointer to it
  std::string name;
  const Core* core = nullptr;
  const Services* services = nullptr;
  Neighbours* neighbours = nullptr;
  CommitQueues* commits = nullptr;
  const Node* settings = nullptr;  // [plugin.NAME]
  Faults* faults = nullptr;        // set while create runs
  Pool* pool = nullptr;            // the instance's own
  std::string state_root;          // absolute: [host].state_dir
};

// The instance that a davit_host belongs to. Valid for every davit_host that this host has created.
inline const InstanceHost& instance(const davit_host* host) {
  return *reinterpret_cast<const InstanceHost*>(host);
}

}  // namespace davit::host
