// Outgoing is a piece of a body to send: a few bytes of its own, then a buffer that other streams
// may share. A message for fifty streams is in memory once, even if many of them are slow.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

struct Outgoing {
  std::array<char, 5> head{};  // the head of an envelope
  size_t head_size = 0;
  Buffer body;

  size_t size() const { return head_size + body.size(); }
  // Copies what follows the first `from` bytes, at most `room` bytes. Returns how many.
  size_t copy(size_t from, char* to, size_t room) const {
    size_t copied = 0;
    if (from < head_size) {
      copied = std::min(room, head_size - from);
      std::memcpy(to, head.data() + from, copied);
      if (copied == room) return copied;
    }
    const std::string_view rest = body.view().substr(from + copied - head_size);
    return copied + rest.copy(to + copied, room - copied);
  }
};

}  // namespace davit::host
