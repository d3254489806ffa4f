// File descriptors: how many this process may have, and how listeners share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace davit::host {

// Raises the limit of descriptors (RLIMIT_NOFILE) to what the system allows this process, and
// returns it. Once, before anything listens.
uint64_t raise_descriptor_limit();

// How many connections each listener may have, when so many descriptors are all there are. Some are
// kept for the rest of the process. What is there is shared evenly, and what one listener does not
// want goes to the others: a large one leaves a small one what it asked for. Pure.
std::vector<size_t> share_descriptors(const std::vector<size_t>& wanted, uint64_t descriptors);

}  // namespace davit::host
