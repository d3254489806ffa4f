// Not every peer reads an answer while it still sends (some never call again on that connection).
// So what nobody wants, the rest of a message that is too large or of a body that is answered
// already, is taken and dropped, up to this.
#pragma once

#include <cstddef>

namespace davit::host {

inline constexpr size_t unwanted_bytes_max = 8u << 20;

}  // namespace davit::host
