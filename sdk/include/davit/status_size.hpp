// How large one status may be. The agent and the server cut a larger one: a status that fits in no
// message would hold up, at every attempt, all statuses that are sent with it.
#pragma once

#include "records.hpp"
#include "utf8.hpp"

namespace davit {

struct StatusSize {
  size_t text_bytes = 4096;        // of message and of parked; a text that was cut ends in "..."
  size_t total_bytes = 256 << 10;  // of the whole status; detail goes first, then the last children
};

// The approximate size on the wire.
inline size_t bytes_of(const Child& c) {
  constexpr size_t numbers = 30;
  return numbers + c.name.size() + c.address.size() + c.status.size();
}
inline size_t bytes_of(const Status& s) {
  constexpr size_t numbers = 100;
  size_t out = numbers + s.key.kind.size() + s.key.region.size() + s.key.id.size() + s.ns.size() +
               s.name.size() + s.health.size() + s.message.size() + s.parked.size() +
               s.detail.size();
  for (const Child& c : s.children) out += bytes_of(c);
  return out;
}

// Cuts the status to the size. Returns whether it cut anything. Counts and health stay as they are.
inline bool cut_to(const StatusSize& size, Status& s) {
  bool cut = false;
  for (std::string* words : {&s.message, &s.parked}) {
    if (words->size() <= size.text_bytes) continue;
    *words = shortened(*words, size.text_bytes);
    cut = true;
  }
  size_t bytes = bytes_of(s);
  if (bytes > size.total_bytes && !s.detail.empty()) {
    bytes -= s.detail.size();
    s.detail.clear();
    s.detail.shrink_to_fit();
    cut = true;
  }
  while (bytes > size.total_bytes && !s.children.empty()) {
    bytes -= bytes_of(s.children.back());
    s.children.pop_back();
    cut = true;
  }
  return cut;
}

}  // namespace davit
