// Decides which of the requests that wait go together in one call of a storage: pure, no lock, no
// clock.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace davit::host {

// What a request touches and how large it is.
struct Footprint {
  std::vector<std::string> keys;  // keys and names: two requests that share one never go together
  size_t bytes = 0;
};

struct BatchLimits {
  size_t requests = 512;   // beyond this a transaction gains nothing and delays the first caller
  size_t bytes = 1 << 20;  // the first request goes whatever its size
};

// Indexes of the requests of the next call, ascending. In order of arrival: a request that shares a
// key with an earlier one, picked or not, waits for the call after it.
std::vector<size_t> pick_batch(const std::deque<Footprint>& waiting, const BatchLimits& limits);

}  // namespace davit::host
