// What a stream says about one record: the record as a stream's peers see it, made once by the
// Classifier from what the store holds, kept in the Ring and turned into messages by the encoders
// (frames.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace davit::streamer {

enum class Verb : uint8_t { apply, remove, hold };

struct Change {
  uint64_t version = 0;
  std::string id, ns, name;
  Verb verb = Verb::hold;
  std::string body;  // apply: the kind's message; hold: why
  int64_t committed_at_unix_ms = 0;
  std::string json{};  // of an apply, as the store keeps it; empty: it was not asked for

  bool live() const { return verb != Verb::remove; }
  // What it costs to keep, near enough.
  size_t bytes() const {
    return sizeof(Change) + id.size() + ns.size() + name.size() + body.size() + json.size();
  }
};

}  // namespace davit::streamer
