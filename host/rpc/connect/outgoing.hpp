// A piece of a body on its way out: the few bytes that are its own, then a buffer that others may
// hold, too. A frame that fifty streams send is in memory once, however many of them are behind.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

struct Outgoing {
  std::array<char, 5> head{};  // of an envelope
  size_t head_size = 0;
  Buffer body;

  size_t size() const { return head_size + body.size(); }
  // Copies what follows the first `from` bytes, as much as there is room for; says how much.
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
