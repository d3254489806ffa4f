#include "keyed_queue.hpp"

namespace davit::controller {

void KeyedQueue::place(const std::string& key, Entry& entry, Time due) {
  unplace(key, entry);
  entry.due = due;
  entry.turn = ++turns_;
  if (!entry.running) order_.insert({{due, entry.turn}, key});
}

void KeyedQueue::unplace(const std::string& key, Entry& entry) {
  if (entry.due) order_.erase({{*entry.due, entry.turn}, key});
  entry.due.reset();
}

void KeyedQueue::add(const std::string& key, Time now) {
  add_at(key, now);
}

void KeyedQueue::add_at(const std::string& key, Time due) {
  Entry& entry =
      entries_.try_emplace(key, Entry{{}, 0, false, false, Backoff(limits_.retry)}).first->second;
  if (entry.resting || (entry.due && *entry.due <= due)) return;
  place(key, entry, due);
}

std::optional<std::string> KeyedQueue::take(Time now) {
  if (running_ >= limits_.concurrency_max || order_.empty()) return std::nullopt;
  if (order_.begin()->first.first > now) return std::nullopt;
  const std::string key = order_.begin()->second;
  Entry& entry = entries_.at(key);
  unplace(key, entry);
  entry.resting = false;
  entry.running = true;
  ++running_;
  return key;
}

void KeyedQueue::succeeded(const std::string& key, Time) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || !it->second.running) return;
  --running_;
  it->second.running = false;
  it->second.backoff.reset();
  if (it->second.due) {
    place(key, it->second, *it->second.due);
  } else {
    entries_.erase(it);
  }
}

void KeyedQueue::failed(const std::string& key, Time now, uint64_t random,
                        std::chrono::milliseconds retry_after) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || !it->second.running) return;
  Entry& entry = it->second;
  --running_;
  entry.running = false;
  entry.resting = true;
  place(key, entry, now + entry.backoff.next(random, retry_after));
}

void KeyedQueue::hurry(Time now) {
  for (auto& [key, entry] : entries_) {
    if (!entry.resting) continue;
    entry.resting = false;
    entry.backoff.reset();
    place(key, entry, now);
  }
}

std::optional<KeyedQueue::Time> KeyedQueue::due() const {
  if (running_ >= limits_.concurrency_max || order_.empty()) return std::nullopt;
  return order_.begin()->first.first;
}

uint32_t KeyedQueue::failures(const std::string& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? 0 : it->second.backoff.failures();
}

}  // namespace davit::controller
