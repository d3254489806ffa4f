#include "batch.hpp"

#include <algorithm>
#include <unordered_set>

namespace davit::host {

std::vector<size_t> pick_batch(const std::deque<Footprint>& waiting, const BatchLimits& limits) {
  std::vector<size_t> picked;
  std::unordered_set<std::string_view> taken;
  size_t bytes = 0, records = 0;
  for (size_t i = 0; i < waiting.size() && picked.size() < limits.requests; ++i) {
    const Footprint& one = waiting[i];
    const bool full = bytes + one.bytes > limits.bytes || records + one.records > limits.records;
    if (!picked.empty() && full) break;
    const bool shared = std::any_of(one.keys.begin(), one.keys.end(),
                                    [&](const auto& key) { return taken.contains(key); });
    taken.insert(one.keys.begin(), one.keys.end());
    if (shared) continue;
    picked.push_back(i);
    bytes += one.bytes;
    records += one.records;
  }
  return picked;
}

}  // namespace davit::host
