#include "requests.hpp"

#include <algorithm>

namespace davit::cluster_kubernetes {

Outcome not_sent(Outcome::Transport how, std::string error) {
  Outcome o;
  o.transport = how;
  o.error = std::move(error);
  return o;
}

void Requests::add(uint64_t key, Transport::Spec spec, Time deadline, Time now, Done done) {
  waiting_.push_back({key, std::move(spec), deadline, now, std::move(done)});
  go_on(now);
}

Requests::Waiting Requests::first() {
  Waiting w = std::move(waiting_.front());
  waiting_.pop_front();
  return w;
}

void Requests::go_on(Time now) {
  now_ = now;
  while (!waiting_.empty() && running_.size() < limits_.connections_max) {
    const auto state = credentials_.state();
    if (state == Credentials::State::waiting) return;
    if (state == Credentials::State::failed) {
      first().done(not_sent(Outcome::Transport::no_credentials, credentials_.failure()));
      continue;
    }
    if (!reserved_) reserved_ = limit_.reserve(now);
    if (*reserved_ > now) return;
    reserved_.reset();
    send(first());
  }
}

Requests::Time Requests::due() const {
  const bool limited = !waiting_.empty() && reserved_ && *reserved_ > now_;
  return limited ? *reserved_ : Time::max();
}

void Requests::send(Waiting w) {
  const auto left = w.deadline == Time::max()
                        ? limits_.timeout
                        : std::chrono::ceil<std::chrono::milliseconds>(w.deadline - now_);
  if (left.count() <= 0) {
    return w.done(not_sent(Outcome::Transport::timed_out,
                           "the time for this request was over before it was sent"));
  }
  w.spec.timeout = std::min(left, limits_.timeout);
  waited_(now_ - w.since);
  const uint64_t key = w.key;
  Running& running = running_[key];
  running = {0, credentials_.generation(), w.deadline, std::move(w.done), w.again};
  running.transfer = transport_.start(
      std::move(w.spec), now_,
      [this, key](Outcome o, Transport::Spec spec) { ended(key, std::move(o), std::move(spec)); });
}

void Requests::ended(uint64_t key, Outcome o, Transport::Spec spec) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  Running running = std::move(it->second);
  running_.erase(it);
  if (o.http == 401 && credentials_.refused(running.generation) && !running.again) {
    // An API server that does not accept the credentials has not carried out the request.
    waiting_.push_front(
        {key, std::move(spec), running.deadline, now_, std::move(running.done), true});
  } else {
    if (o.http != 0 && o.http != 401) credentials_.accepted(running.generation);
    running.done(std::move(o));
  }
  go_on(now_);
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
    transport_.abort(runs->second.transfer);
    done = std::move(runs->second.done);
    running_.erase(runs);
  }
  if (!done) return;
  done(not_sent(Outcome::Transport::cancelled, given_up));
  go_on(now_);
}

void Requests::expire(Time now) {
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
  for (auto& [key, running] : std::exchange(running_, {})) {
    transport_.abort(running.transfer);
    running.done(not_sent(Outcome::Transport::failed, message));
  }
}

}  // namespace davit::cluster_kubernetes
