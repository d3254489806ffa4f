// One record as the peers of a stream see it. The Classifier makes a Change once from the stored
// record, the Ring keeps it, and the encoders (frames.hpp) turn it into messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::streamer {

enum class Verb : uint8_t { apply, remove, hold };

struct Change {
  Version version{};
  std::string id, ns, name;
  Verb verb = Verb::hold;
  std::string body;  // apply: the kind's message; hold: the reason
  int64_t committed_at_unix_ms = 0;
  std::string json{};   // apply: the JSON that the store keeps; the ring leaves it out
  std::string state{};  // empty: the kind's default, or the record is deleted
  Pairs annotations{};  // of a record that is not deleted

  // The messages that its kind has made of it, by encoding. Empty: none was made.
  std::vector<Buffer> made{};

  bool live() const { return verb != Verb::remove; }
  // What grows with the record, of its size in a message.
  size_t content_bytes() const {
    size_t out = body.size();
    for (const auto& [key, value] : annotations) out += key.size() + value.size();
    return out;
  }
  // Approximate memory.
  size_t bytes() const {
    size_t out = sizeof(Change) + id.size() + ns.size() + name.size() + json.size() + state.size() +
                 content_bytes() + annotations.size() * sizeof annotations[0];
    for (const Buffer& b : made) out += sizeof b + b.size();
    return out;
  }
};

}  // namespace davit::streamer
