#include "live_count.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace davit::streamer {

void PageNames::add(std::string_view id, Version version, bool live) {
  if (version > begin_) {
    changed_.emplace_back(id, live);
  } else if (live) {
    unchanged_.push_back(std::hash<std::string_view>{}(id));
  }
}

void PageNames::seal() {
  std::sort(unchanged_.begin(), unchanged_.end());
  unchanged_.shrink_to_fit();
}

size_t PageNames::bytes() const {
  size_t out = unchanged_.size() * sizeof unchanged_[0];
  for (const auto& [id, live] : changed_) out += sizeof changed_[0] + id.size();
  return out;
}

bool PageNames::has(std::string_view id) const {
  return has_unchanged(id) || std::any_of(changed_.begin(), changed_.end(),
                                          [&](const auto& c) { return c.first == id; });
}

bool PageNames::has_unchanged(std::string_view id) const {
  return std::binary_search(unchanged_.begin(), unchanged_.end(),
                            std::hash<std::string_view>{}(id));
}

uint64_t LiveCount::total() const {
  uint64_t count = 0;
  std::unordered_map<std::string_view, bool> changed;
  for (const auto& page : pages_) {
    count += page->unchanged_.size();
    for (const auto& [id, live] : page->changed_) changed[id] = live;
  }
  for (const auto& record : changed) {
    const bool counted = std::any_of(pages_.begin(), pages_.end(), [&](const auto& page) {
      return page->has_unchanged(record.first);
    });
    if (record.second && !counted) ++count;
    if (!record.second && counted) --count;
  }
  return count;
}

}  // namespace davit::streamer
