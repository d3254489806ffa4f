#include "repeated.hpp"

#include <utility>

namespace davit::host {

// Forgets keys whose last line is a minute old. The events they left out still count.
bool Repeated::room_for_one_more(Time now) {
  if (seen_.size() < keys_max) return true;
  std::erase_if(seen_, [&](const auto& entry) {
    if (now - entry.second.logged < interval) return false;
    others_ += entry.second.left_out;
    return true;
  });
  return seen_.size() < keys_max;
}

std::optional<uint64_t> Repeated::log(const std::string& key, Time now) {
  const std::lock_guard lock(mutex_);
  if (now - began_ >= interval) {
    began_ = now;
    lines_ = 0;
  }
  const auto known = seen_.find(key);
  if (known != seen_.end() && (now - known->second.logged < interval || lines_ >= lines_max)) {
    ++known->second.left_out;
    return std::nullopt;
  }
  if (lines_ >= lines_max || (known == seen_.end() && !room_for_one_more(now))) {
    ++others_;
    return std::nullopt;
  }
  ++lines_;
  Seen& seen = seen_[key];
  seen.logged = now;
  return std::exchange(seen.left_out, 0) + std::exchange(others_, 0);
}

}  // namespace davit::host
