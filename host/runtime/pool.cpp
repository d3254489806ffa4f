#include "pool.hpp"

#include <pthread.h>

#include <algorithm>

namespace davit::host {

Pool::Pool(std::string name, unsigned max_concurrency)
    : name_(std::move(name)), own_(party(name_)), max_(std::max(1U, max_concurrency)) {}

Pool::~Pool() {
  shutdown(std::chrono::steady_clock::time_point::max());
}

void Pool::post(davit_task task, void* arg, std::string_view guest) {
  std::unique_lock lock(mutex_);
  if (closed_ && alive_ == 0) {
    lock.unlock();
    run({task, arg, nullptr});
    return;
  }
  Guests::value_type* from = nullptr;
  if (!guest.empty()) {
    from = &*guests_.try_emplace(&party(guest), 0).first;
    ++from->second;
    ++calls_;
  }
  if (waiting_.empty()) moved_ = std::chrono::steady_clock::now();
  waiting_.push_back({task, arg, from});
  if (idle_ >= waiting_.size() || alive_ >= max_) {
    changed_.notify_one();
    return;
  }
  ++alive_;
  try {
    threads_.emplace_back(&Pool::work, this);
  } catch (const std::system_error&) {  // no more threads: leave the task to those that run, or run
                                        // it here if there are none
    --alive_;
    if (alive_ > 0) return;
    waiting_.pop_back();
    ended(from);
    lock.unlock();
    run({task, arg, from});
  }
}

void Pool::work() {
  constexpr size_t thread_name_max = 15;  // pthread_setname_np refuses more
  pthread_setname_np(pthread_self(), name_.substr(0, thread_name_max).c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !closed_) {
      ++idle_;
      changed_.wait(lock);
      --idle_;
    }
    if (waiting_.empty()) break;
    const Task task = waiting_.front();
    waiting_.pop_front();
    if (!waiting_.empty()) moved_ = std::chrono::steady_clock::now();
    lock.unlock();
    run(task);
    lock.lock();
    ended(task.guest);
  }
  --alive_;
  changed_.notify_all();
}

void Pool::run(const Task& task) {
  const Step step(Step::Kind::job, task.guest == nullptr ? own_ : *task.guest->first,
                  "a blocking task");
  task.run(task.arg);
}

// The caller holds the lock.
void Pool::ended(Guests::value_type* guest) {
  if (guest == nullptr) return;
  --guest->second;
  if (--calls_ == 0) changed_.notify_all();
}

std::string Pool::wait_for_guests(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline, [this] { return calls_ == 0; })) return {};
  const auto one = std::find_if(guests_.begin(), guests_.end(),
                                [](const auto& guest) { return guest.second > 0; });
  return one->first->instance;
}

bool Pool::busy() {
  std::lock_guard lock(mutex_);
  return !waiting_.empty() || alive_ > idle_;
}

std::chrono::nanoseconds Pool::stands_still() {
  std::lock_guard lock(mutex_);
  if (waiting_.empty()) return {};
  return std::chrono::steady_clock::now() - moved_;
}

bool Pool::shutdown(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  const auto ended = [this] { return alive_ == 0; };
  if (deadline == std::chrono::steady_clock::time_point::max()) {
    changed_.wait(lock, ended);
  } else if (!changed_.wait_until(lock, deadline, ended)) {
    return false;
  }
  std::vector<std::thread> threads = std::move(threads_);
  threads_.clear();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  return true;
}

}  // namespace davit::host
