// The limit of file descriptors, and how the listeners share them. Rpc uses both once, before any
// listener opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace davit::host {

// Raises the process's limit (RLIMIT_NOFILE) to what the system allows, and returns the limit. Call
// it once, before anything listens.
uint64_t raise_descriptor_limit();

// How many connections each listener may have. `wanted` is what each asks for, `descriptors` is the
// limit of the process. 256 descriptors, or a quarter if that is less, stay for the rest of the
// process. The others are shared evenly. What a small listener does not need goes to the larger
// ones. Pure.
std::vector<size_t> share_descriptors(const std::vector<size_t>& wanted, uint64_t descriptors);

}  // namespace davit::host
