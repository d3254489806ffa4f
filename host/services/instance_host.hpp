// The host as one instance sees it: the davit_host that a plugin is given, and behind it what the
// services need to know about that instance. Made by the assembly, one per instance, before create;
// outlives destroy.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "assembly/extension.hpp"

namespace davit::host {

class CommitQueues;
class Faults;
class Pool;
class Services;
struct Node;

// Finding other instances: the assembly's part of the look-up service.
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  virtual Result<davit_ref> find(std::string_view finder, std::string_view instance,
                                 std::string_view interface) = 0;
  virtual std::vector<davit_ref> each(std::string_view finder, std::string_view interface) = 0;
  // The pool of an instance, for blocking calls into it; nullptr when there is none of that name.
  // [any]
  virtual Pool* pool(std::string_view instance) = 0;
};

struct InstanceHost {
  davit_host abi{};  // first: the plugin sees a pointer to it
  std::string name;
  const Core* core = nullptr;
  const Services* services = nullptr;
  Neighbours* neighbours = nullptr;
  CommitQueues* commits = nullptr;
  const Node* settings = nullptr;  // [plugin.NAME]
  Faults* faults = nullptr;        // set while create runs
  Pool* pool = nullptr;            // its own
  std::string state_root;          // absolute: [host].state_dir
};

// Which instance is it? Valid for every davit_host this host has made.
inline const InstanceHost& instance(const davit_host* host) {
  return *reinterpret_cast<const InstanceHost*>(host);
}

}  // namespace davit::host
