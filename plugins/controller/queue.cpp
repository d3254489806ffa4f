#include "queue.hpp"

#include <algorithm>

namespace davit::controller {
namespace {

// What one turn costs each priority. Changes and repairs (which also report statuses) take turns,
// and one of nine turns is the resync's.
constexpr std::array<uint64_t, 3> turn_cost{1, 1, 4};

}  // namespace

template <class Key>
void Queue<Key>::add(const Key& key, Priority priority, Time at) {
  Entry& e = entries_[key];
  if (priority == Priority::change) {
    e.rest_until = Time{0};
  } else {
    at = std::max(at, e.rest_until);
  }
  wait(key, e, priority, at);
}

template <class Key>
void Queue<Key>::wait(const Key& key, Entry& e, Priority priority, Time at) {
  if (e.waits) {
    if (priority >= e.priority && at >= e.at) return;
    if (!e.out) remove(key, e);
    priority = std::min(priority, e.priority);
    at = std::min(at, e.at);
  }
  e.waits = true;
  e.priority = priority;
  e.at = at;
  if (!e.out) enqueue(key, e);
}

template <class Key>
void Queue<Key>::enqueue(const Key& key, Entry& e) {
  // take moves the key to the ready ones when it is due, because only take knows the time.
  e.delayed = true;
  delayed_.insert({e.at, key});
}

template <class Key>
void Queue<Key>::remove(const Key& key, Entry& e) {
  if (e.delayed) {
    delayed_.erase({e.at, key});
  } else {
    ready_.erase({e.priority, e.order, key});
  }
}

template <class Key>
std::optional<Key> Queue<Key>::take(Time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const Key due = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    Entry& e = entries_[due];
    e.delayed = false;
    e.order = ++order_;
    ready_.insert({e.priority, e.order, due});
  }
  if (ready_.empty()) return std::nullopt;
  const auto next = next_ready();
  const Key key = std::get<2>(*next);
  ready_.erase(next);
  Entry& e = entries_[key];
  e.waits = false;
  e.out = true;
  e.taken = e.priority;
  ++out_;
  return key;
}

// The oldest key of the priority that has had the least, and of several such priorities of the most
// urgent. A priority saves nothing up while it has no keys waiting.
template <class Key>
typename Queue<Key>::Ready::iterator Queue<Key>::next_ready() {
  auto best = ready_.end();
  std::array<bool, 3> waits{};
  for (size_t priority = 0; priority < had_.size(); ++priority) {
    const auto first = ready_.lower_bound({static_cast<Priority>(priority), 0, Key{}});
    waits[priority] =
        first != ready_.end() && std::get<0>(*first) == static_cast<Priority>(priority);
    if (!waits[priority]) continue;
    if (best == ready_.end() || had_[priority] < had_[static_cast<size_t>(std::get<0>(*best))])
      best = first;
  }
  const auto chosen = static_cast<size_t>(std::get<0>(*best));
  had_[chosen] += turn_cost[chosen];
  for (size_t priority = 0; priority < had_.size(); ++priority) {
    if (!waits[priority]) had_[priority] = std::max(had_[priority], had_[chosen]);
  }
  return best;
}

template <class Key>
void Queue<Key>::done(const Key& key, Time rest_until) {
  Entry& e = entries_[key];
  e.out = false;
  --out_;
  if (!e.waits) {
    e.rest_until = rest_until;
    if (rest_until == Time{0}) entries_.erase(key);
    return;
  }
  // A change that came meanwhile does not rest.
  if (e.priority != Priority::change) {
    e.rest_until = rest_until;
    e.at = std::max(e.at, rest_until);
  }
  enqueue(key, e);
}

template <class Key>
void Queue<Key>::retry(const Key& key, Time at) {
  done(key, at);
  Entry& e = entries_[key];
  wait(key, e, e.taken, at);
}

template <class Key>
Priority Queue<Key>::put_aside(const Key& key) {
  Entry& e = entries_[key];
  e.out = false;
  --out_;
  if (e.waits) enqueue(key, e);
  return e.taken;
}

template <class Key>
void Queue<Key>::forget(const Key& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || it->second.out) return;
  if (it->second.waits) remove(key, it->second);
  entries_.erase(it);
}

template <class Key>
void Queue<Key>::hasten(Time now) {
  std::set<std::pair<Time, Key>> sooner;
  for (const auto& [at, key] : delayed_) {
    Entry& e = entries_[key];
    e.at = std::min(at, now);
    sooner.insert({e.at, key});
  }
  delayed_.swap(sooner);
  for (auto& [key, e] : entries_) e.rest_until = std::min(e.rest_until, now);
}

template <class Key>
std::optional<typename Queue<Key>::Time> Queue<Key>::next_due() const {
  if (!ready_.empty()) return Time{0};
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

template class Queue<uint64_t>;
template class Queue<std::string>;

}  // namespace davit::controller
