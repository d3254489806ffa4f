#include "census.hpp"

#include <algorithm>
#include <functional>

namespace davit::streamer {

void Census::named(std::string_view id, uint64_t version, bool live) {
  if (version > begin_) {
    changed_[std::string(id)] = live;
  } else if (live) {
    unchanged_.push_back(std::hash<std::string_view>{}(id));
  }
}

uint64_t Census::live_count() {
  uint64_t count = unchanged_.size();
  if (!changed_.empty()) std::sort(unchanged_.begin(), unchanged_.end());
  for (const auto& [id, live] : changed_) {
    const bool counted =
        std::binary_search(unchanged_.begin(), unchanged_.end(), std::hash<std::string_view>{}(id));
    if (live && !counted) ++count;
    if (!live && counted) --count;
  }
  return count;
}

}  // namespace davit::streamer
