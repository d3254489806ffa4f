#include "additions.hpp"

namespace davit::streamer {

namespace {
// The limit for one kind. A full cache is emptied: what is in use is encoded again.
constexpr size_t additions_bytes_max = 256 << 10;
// The memory of an entry without its texts.
constexpr size_t entry_bytes = 128;
}  // namespace

Result<std::string> Additions::encoded(const Schema& schema, const std::string& type,
                                       const std::string& json) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = encoded_.find(json); found != encoded_.end()) return found->second;
  }
  auto made = schema.from_json(type, json);
  if (!made.ok()) return made;
  const size_t cost = json.size() + made->size() + entry_bytes;
  if (cost > additions_bytes_max) return made;
  const std::lock_guard lock(mutex_);
  if (bytes_ + cost > additions_bytes_max) {
    encoded_.clear();
    bytes_ = 0;
  }
  if (encoded_.emplace(json, *made).second) bytes_ += cost;
  return made;
}

size_t Additions::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace davit::streamer
