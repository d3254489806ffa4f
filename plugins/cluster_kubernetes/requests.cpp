#include "requests.hpp"

#include <algorithm>

namespace davit::cluster_kubernetes {

Outcome not_sent(Outcome::Transport how, std::string error) {
  Outcome o;
  o.transport = how;
  o.error = std::move(error);
  return o;
}

void Requests::add(uint64_t key, Transport::Spec spec, std::chrono::nanoseconds deadline,
                   std::chrono::nanoseconds now, Done done) {
  now_ = now;
  waiting_.push_back({key, std::move(spec), deadline, std::move(done)});
  next();
}

void Requests::next() {
  while (!waiting_.empty() && running_.size() < limits_.connections_max) {
    Waiting w = std::move(waiting_.front());
    waiting_.pop_front();
    send(std::move(w), now_);
  }
}

void Requests::send(Waiting w, std::chrono::nanoseconds now) {
  const auto left = w.deadline == std::chrono::nanoseconds::max()
                        ? limits_.timeout
                        : std::chrono::ceil<std::chrono::milliseconds>(w.deadline - now);
  if (left.count() <= 0) {
    return w.done(not_sent(Outcome::Transport::timed_out,
                           "the time for this request was over before it was sent"));
  }
  w.spec.timeout = std::min(left, limits_.timeout);
  const uint64_t key = w.key;
  auto& slot = running_[key];
  slot.second = std::move(w.done);
  slot.first = transport_.start(std::move(w.spec), now, [this, key](Outcome o) {
    auto it = running_.find(key);
    if (it == running_.end()) return;
    const Done done = std::move(it->second.second);
    running_.erase(it);
    done(std::move(o));
    next();
  });
}

void Requests::cancel(uint64_t key) {
  Done done;
  const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& w) { return w.key == key; });
  const auto runs = running_.find(key);
  if (waits != waiting_.end()) {
    done = std::move(waits->done);
    waiting_.erase(waits);
  } else if (runs != running_.end()) {
    transport_.abort(runs->second.first);
    done = std::move(runs->second.second);
    running_.erase(runs);
  }
  if (!done) return;
  done(not_sent(Outcome::Transport::cancelled, given_up));
  next();
}

void Requests::expire(std::chrono::nanoseconds now) {
  now_ = now;
  std::deque<Waiting> kept;
  std::vector<Done> late;
  for (auto& w : waiting_) {
    if (w.deadline <= now) {
      late.push_back(std::move(w.done));
    } else {
      kept.push_back(std::move(w));
    }
  }
  waiting_ = std::move(kept);
  for (const auto& done : late) {
    done(not_sent(Outcome::Transport::timed_out,
                  "the time for this request was over while others were served"));
  }
}

void Requests::end_all(const std::string& message) {
  for (auto& w : std::exchange(waiting_, {})) w.done(not_sent(Outcome::Transport::failed, message));
  for (auto& [key, slot] : std::exchange(running_, {})) {
    transport_.abort(slot.first);
    slot.second(not_sent(Outcome::Transport::failed, message));
  }
}

}  // namespace davit::cluster_kubernetes
