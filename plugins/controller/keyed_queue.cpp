#include "keyed_queue.hpp"

#include <algorithm>

namespace davit::controller {

std::optional<std::string> KeyedQueue::take(Time now) {
  if (running() >= limit_.value() || now < limit_.paused_until()) return std::nullopt;
  return queue_.take(now);
}

void KeyedQueue::succeeded(const std::string& key) {
  backoffs_.erase(key);
  queue_.done(key, Time{0});
}

void KeyedQueue::failed(const std::string& key, Time now, uint64_t random,
                        std::chrono::milliseconds retry_after) {
  Backoff& backoff = backoffs_.try_emplace(key, Backoff(limits_.retry)).first->second;
  queue_.retry(key, now + backoff.next(random, retry_after));
}

void KeyedQueue::hurry(Time now) {
  backoffs_.clear();
  queue_.hasten(now);
}

void KeyedQueue::answered(const std::string& like, const cluster::Response& response, Time sent,
                          Time now) {
  if (overloaded(response)) return limit_.overloaded(sent, response.retry_after, now);
  limit_.answered(like, now - sent, running(), now);
}

std::optional<KeyedQueue::Time> KeyedQueue::due() const {
  if (running() >= limit_.value()) return std::nullopt;
  const auto due = queue_.next_due();
  return due ? std::max(*due, limit_.paused_until()) : due;
}

uint32_t KeyedQueue::failures(const std::string& key) const {
  const auto it = backoffs_.find(key);
  return it == backoffs_.end() ? 0 : it->second.failures();
}

}  // namespace davit::controller
