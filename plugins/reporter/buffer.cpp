#include "buffer.hpp"

#include <davit/status_size.hpp>

namespace davit::reporter {

// The key has the record's id, or its name when a ctrl.v1 peer gave no id.
std::string Buffer::key_of(const Status& s) {
  const std::string& region = s.key.region;
  if (!s.key.id.empty()) return s.key.kind + '\n' + region + '\n' + s.key.id;
  return s.key.kind + '\n' + region + "\n\n" + s.ns + '\n' + s.name;
}

bool Buffer::drop_oldest() {
  if (!order_.empty()) {
    by_key_.erase(key_of(order_.front()));
    order_.pop_front();
  } else {
    off_by_key_.erase(off_.begin()->second);
    off_.erase(off_.begin());
  }
  ++dropped_;
  return false;
}

bool Buffer::offer(Status status) {
  const std::string key = key_of(status);
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    *it->second = std::move(status);
    return true;
  }
  if (const auto it = off_by_key_.find(key); it != off_by_key_.end()) {
    off_.erase({it->second.first, key});
    off_by_key_.erase(it);
  }
  const bool kept = !full() || drop_oldest();
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
    if (full()) {
      ++dropped_;
      continue;
    }
    by_key_[key] = order_.insert(order_.begin(), std::move(*it));
  }
}

void Buffer::put_off(Status status, Time due) {
  std::string key = key_of(status);
  if (by_key_.contains(key)) return;
  if (full()) {
    ++dropped_;
    return;
  }
  off_.insert({due, key});
  off_by_key_[std::move(key)] = {due, std::move(status)};
}

void Buffer::release(Time now) {
  while (!off_.empty() && off_.begin()->first <= now) {
    const auto it = off_by_key_.find(off_.begin()->second);
    off_.erase(off_.begin());
    by_key_[it->first] = order_.insert(order_.end(), std::move(it->second.second));
    off_by_key_.erase(it);
  }
}

std::optional<Buffer::Time> Buffer::next_due() const {
  if (off_.empty()) return std::nullopt;
  return off_.begin()->first;
}

}  // namespace davit::reporter
