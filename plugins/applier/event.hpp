// Event: what the applier has to say of an object to people who look at the object. The hub and
// reconciliations make them, and Events writes them.
#pragma once

#include <string>

#include "object.hpp"

namespace davit::applier {

// The object that an event is about. It may be gone, or not there yet.
struct EventTarget {
  ObjectName name;
  std::string kind;  // "ReplicaSet"; empty: there is no target
  std::string uid;   // empty: unknown
};

struct Event {
  EventTarget about;
  bool warning = false;
  std::string reason;   // one word in CamelCase: "Parked"
  std::string message;  // for people; what is too long is cut
};

}  // namespace davit::applier
