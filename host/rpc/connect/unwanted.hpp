// The limit of what a server receives and discards of a body that nobody wants: the rest of a
// message that is too large, or of a request that is already answered. Some peers do not read an
// answer while they still send, and some never call again on such a connection.
#pragma once

#include <cstddef>

namespace davit::host {

inline constexpr size_t unwanted_bytes_max = 8u << 20;

}  // namespace davit::host
