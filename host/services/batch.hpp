// Selects the waiting requests that go together into one call of a storage. Pure: it has no lock
// and no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace davit::host {

// The keys that a request touches, and its size.
struct Footprint {
  std::vector<std::string> keys;  // ids and names; requests that share one are in different calls
  size_t bytes = 0;
  size_t records = 0;
};

// The first request is taken whatever its size.
struct BatchLimits {
  size_t requests = 512;  // larger transactions gain nothing and delay the first caller
  size_t bytes = 1 << 20;
  size_t records = SIZE_MAX;
};

// Returns the ascending indexes of the requests for the next call, in the order of arrival. A
// request that shares a key with any earlier one, selected or not, waits for a later call.
std::vector<size_t> pick_batch(const std::deque<Footprint>& waiting, const BatchLimits& limits);

}  // namespace davit::host
