#include "buffer.hpp"

#include <davit/status_size.hpp>

namespace davit::reporter {

// A record is known by its id; one that a ctrl.v1 peer only named, by its name.
std::string Buffer::key_of(const Status& s) {
  const std::string& region = s.key.region;
  if (!s.key.id.empty()) return s.key.kind + '\n' + region + '\n' + s.key.id;
  return s.key.kind + '\n' + region + "\n\n" + s.ns + '\n' + s.name;
}

bool Buffer::drop_oldest() {
  by_key_.erase(key_of(order_.front()));
  order_.pop_front();
  ++dropped_;
  return false;
}

bool Buffer::offer(Status status) {
  const std::string key = key_of(status);
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    *it->second = std::move(status);
    return true;
  }
  const bool kept = order_.size() < capacity_ || drop_oldest();
  by_key_[key] = order_.insert(order_.end(), std::move(status));
  return kept;
}

std::vector<Status> Buffer::take(size_t most, size_t bytes_max) {
  std::vector<Status> out;
  size_t bytes = 0;
  while (out.size() < most && !order_.empty()) {
    bytes += bytes_of(order_.front());
    if (bytes > bytes_max && !out.empty()) break;
    by_key_.erase(key_of(order_.front()));
    out.push_back(std::move(order_.front()));
    order_.pop_front();
  }
  return out;
}

void Buffer::put_back(std::vector<Status> statuses) {
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    const std::string key = key_of(*it);
    if (by_key_.contains(key)) continue;
    if (order_.size() >= capacity_) {
      ++dropped_;
      continue;
    }
    by_key_[key] = order_.insert(order_.begin(), std::move(*it));
  }
}

}  // namespace davit::reporter
