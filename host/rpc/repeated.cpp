#include "repeated.hpp"

namespace davit::host {

std::optional<uint64_t> Repeated::log(const std::string& key, Time now) {
  const std::lock_guard lock(mutex_);
  if (seen_.size() >= keys_max)
    seen_.clear();  // keys come from callers: bounded, at the price of a line more
  const auto [at, first] = seen_.try_emplace(key, Seen{now, 0});
  if (first) return 0;
  if (now - at->second.logged < interval) {
    ++at->second.left_out;
    return std::nullopt;
  }
  const uint64_t left_out = at->second.left_out;
  at->second = {now, 0};
  return left_out;
}

}  // namespace davit::host
