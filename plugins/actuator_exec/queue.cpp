#include "queue.hpp"

#include <algorithm>

namespace davit::actuator_exec {

void Queue::start() {
  const size_t count = runner_.settings().concurrency_max;
  {
    const std::lock_guard lock(mutex_);
    taking_ = true;
    threads_left_ = count;
  }
  for (size_t i = 0; i < count; ++i)
    threads_.emplace_back([this] { must_not_throw("a call of a program", [&] { work(); }); });
}

void Queue::call(const Op& op, Operation operation, actuator::Call call, actuator::Done done) {
  const auto open = std::make_shared<OpenCall>(op, operation, std::move(call), std::move(done),
                                               outstanding_.begin());
  if (auto ours = check_call(open->call(), operation, runner_.settings().providers); !ours.ok())
    return open->fail(ours.error());
  // It is cancelled while it waits, or while its program runs.
  open->listen([self = weak_from_this(), weak = std::weak_ptr(open)] {
    if (const auto one = weak.lock()) one->stopper().stop();
    if (const auto queue = self.lock()) queue->look_soon();
  });
  if (auto refused = take(open)) return open->fail(std::move(*refused));
  changed_.notify_one();
  look_soon();
}

// Nothing: it waits now, and is the queue's.
std::optional<Error> Queue::take(const Open& open) {
  const std::lock_guard lock(mutex_);
  if (!taking_) return shutting_down();
  const size_t idle = threads_left_ - running_.size();
  if (waiting_.size() >= idle + runner_.settings().waiting_max) {
    return Error{Code::resource_exhausted,
                 "too many calls wait for a program to end (waiting_max)"};
  }
  waiting_.push_back(open);
  return std::nullopt;
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !taking_ || !waiting_.empty(); });
    if (!taking_) break;
    Open open = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back(open);
    lock.unlock();
    runner_.run(*open);
    lock.lock();
    std::erase(running_, open);
  }
  --threads_left_;
  lock.unlock();
  changed_.notify_all();
}

void Queue::look_soon() {
  strand_.post([self = weak_from_this()] {
    if (const auto queue = self.lock()) queue->look();
  });
}

// Answers those that wait and whose callers have given up, and comes again at the next deadline.
void Queue::look() {
  std::deque<Open> over;
  auto next = std::chrono::nanoseconds::max();
  const auto now = host_.now();
  {
    const std::lock_guard lock(mutex_);
    std::deque<Open> still;
    for (auto& open : waiting_) {
      const bool ended = open->given_up(now).has_value();
      if (!ended) next = std::min(next, open->deadline());
      (ended ? over : still).push_back(std::move(open));
    }
    waiting_.swap(still);
  }
  for (const auto& open : over) open->fail(*open->given_up(now));
  if (next == std::chrono::nanoseconds::max()) {
    timer_.cancel();
  } else {
    timer_.after(next - now, [self = weak_from_this()] {
      if (const auto queue = self.lock()) queue->look();
    });
  }
}

Result<> Queue::stop(const Op& op) {
  std::deque<Open> waiting;
  std::vector<Open> running;
  runner_.stopping();
  {
    const std::lock_guard lock(mutex_);
    taking_ = false;
    waiting.swap(waiting_);
    running = running_;
  }
  changed_.notify_all();
  for (const auto& open : running) open->stopper().stop();
  for (const auto& open : waiting) open->fail(shutting_down());
  wait_for_threads(op);
  strand_.post(
      [self = shared_from_this(), ticket = outstanding_.begin()] { self->timer_.cancel(); });
  running.clear();
  waiting.clear();
  return outstanding_.wait(host_, op);
}

// Programs have half of the time for ending by themselves.
void Queue::wait_for_threads(const Op& op) {
  {
    std::unique_lock lock(mutex_);
    const auto none = [&] { return threads_left_ == 0; };
    if (op.deadline_ns() == INT64_MAX) {
      changed_.wait(lock, none);
    } else {
      changed_.wait_for(lock, (std::chrono::nanoseconds(op.deadline_ns()) - host_.now()) / 2, none);
    }
  }
  runner_.hurry();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace davit::actuator_exec
