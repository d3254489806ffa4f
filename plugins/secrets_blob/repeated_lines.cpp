#include "repeated_lines.hpp"

#include <utility>

namespace davit::secrets_blob {

std::optional<uint64_t> RepeatedLines::log(const std::string& key, Time now) {
  if (!began_ || now - *began_ >= interval) {
    began_ = now;
    std::erase_if(logged_, [now](const auto& one) { return now - one.second >= interval; });
  }
  if (logged_.size() < lines_max && logged_.emplace(key, now).second)
    return std::exchange(left_out_, 0);
  ++left_out_;
  return std::nullopt;
}

}  // namespace davit::secrets_blob
