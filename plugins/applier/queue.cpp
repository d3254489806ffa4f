#include "queue.hpp"

#include <algorithm>

namespace davit::applier {

void Queue::add(Key key, Band band, Time at) {
  Entry& e = entries_[key];
  if (band == Band::change) {
    e.rest_until = Time{0};
  } else {
    at = std::max(at, e.rest_until);
  }
  wait(key, e, band, at);
}

void Queue::wait(Key key, Entry& e, Band band, Time at) {
  if (e.waits) {
    if (band >= e.band && at >= e.at) return;
    if (!e.out) remove(key, e);
    band = std::min(band, e.band);
    at = std::min(at, e.at);
  }
  e.waits = true;
  e.band = band;
  e.at = at;
  if (!e.out) enqueue(key, e);
}

void Queue::enqueue(Key key, Entry& e) {
  // What is due is found by take, which knows the time.
  e.delayed = true;
  delayed_.insert({e.at, key});
}

void Queue::remove(Key key, Entry& e) {
  if (e.delayed) {
    delayed_.erase({e.at, key});
  } else {
    ready_.erase({e.band, e.order, key});
  }
}

std::optional<Queue::Key> Queue::take(Time now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const Key due = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    Entry& e = entries_[due];
    e.delayed = false;
    e.order = ++order_;
    ready_.insert({e.band, e.order, due});
  }
  if (ready_.empty()) return std::nullopt;
  const Key key = std::get<2>(*ready_.begin());
  ready_.erase(ready_.begin());
  Entry& e = entries_[key];
  e.waits = false;
  e.out = true;
  e.taken = e.band;
  ++out_;
  return key;
}

void Queue::done(Key key, Time rest_until) {
  Entry& e = entries_[key];
  e.out = false;
  --out_;
  if (!e.waits) {
    e.rest_until = rest_until;
    return;
  }
  // A change that came meanwhile does not rest.
  if (e.band != Band::change) {
    e.rest_until = rest_until;
    e.at = std::max(e.at, rest_until);
  }
  enqueue(key, e);
}

void Queue::retry(Key key, Time at) {
  done(key, at);
  Entry& e = entries_[key];
  wait(key, e, e.taken, at);
}

void Queue::put_aside(Key key) {
  Entry& e = entries_[key];
  e.out = false;
  --out_;
  if (e.waits) enqueue(key, e);
}

void Queue::forget(Key key) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || it->second.out) return;
  if (it->second.waits) remove(key, it->second);
  entries_.erase(it);
}

void Queue::hasten(Time now) {
  std::set<std::pair<Time, Key>> sooner;
  for (const auto& [at, key] : delayed_) {
    Entry& e = entries_[key];
    e.at = std::min(at, now);
    sooner.insert({e.at, key});
  }
  delayed_.swap(sooner);
  for (auto& [key, e] : entries_) e.rest_until = std::min(e.rest_until, now);
}

std::optional<Queue::Time> Queue::next_due() const {
  if (!ready_.empty()) return Time{0};
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

}  // namespace davit::applier
