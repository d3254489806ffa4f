// Events of Kubernetes, which `kubectl describe` shows at an object: the request that writes one.
// Who writes them decides which, and how many. Pure.
#pragma once

#include <string>

#include <davit/cluster.hpp>

namespace davit::kubernetes {

// The object that an event is about. It may be gone, or not there yet.
struct EventTarget {
  cluster::Resource resource;
  std::string kind, ns, name;  // "ReplicaSet"; an empty `ns`: the object has no namespace
  std::string uid;             // empty: unknown
};

struct EventText {
  bool warning = false;
  std::string reason;   // one word in UpperCamelCase: "Parked"
  std::string message;  // for people; what is too long is cut
};

struct EventTimes {
  int64_t first_unix_ms = 0, last_unix_ms = 0;
  uint64_t times = 1;  // that it has occurred
};

// Who says it: source.component and the query's fieldManager.
struct EventSource {
  std::string component, field_manager;
};

// An apply of the event under a name that `hash` makes its own: it makes the event, or counts it
// up. Without a deadline.
cluster::Request event_request(const EventTarget& about, const EventText& text, uint64_t hash,
                               const EventTimes& times, const EventSource& source);

}  // namespace davit::kubernetes
