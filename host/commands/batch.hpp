// Divides what a command sends into requests that a server takes.
#pragma once

#include <cstddef>
#include <string>

#include <davit/types.hpp>

namespace davit::host {

// The most that one document or key may have. The server takes 4 MiB in a request; the rest of the
// request has less than 64 KiB.
constexpr size_t document_bytes_max = (4u << 20) - (64u << 10);
// Limits of a batch. A document that is larger is a batch of its own.
struct BatchLimits {
  size_t items = 500;
  size_t bytes = 2u << 20;
};
// As much as the server takes, for a request of which no part takes effect before another.
constexpr BatchLimits whole_request{20'000, 3'500'000};

// Where the batch that begins at `first` ends. It has at least one item. `bytes_of(i)` is the size
// of item i.
template <class BytesOf>
size_t batch_end(size_t first, size_t count, const BytesOf& bytes_of, BatchLimits limits = {}) {
  size_t end = first;
  for (size_t bytes = 0; end < count && end - first < limits.items; ++end) {
    bytes += bytes_of(end);
    if (end > first && bytes > limits.bytes) break;
  }
  return end;
}

// An error unless the server has answered with one outcome for each item of the batch. With any
// other number nobody knows which outcome is whose.
inline Result<> one_for_each(int outcomes, size_t items) {
  if (static_cast<size_t>(outcomes) == items) return {};
  return Error{Code::internal, "the server answered with " + std::to_string(outcomes) +
                                   " outcomes for " + std::to_string(items) +
                                   " records; what became of each is not known"};
}

}  // namespace davit::host
