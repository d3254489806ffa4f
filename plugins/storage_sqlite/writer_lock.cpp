#include "writer_lock.hpp"

namespace davit::storage_sqlite {

// Under the mutex.
uint64_t WriterLock::enter() {
  queue_.push_back(++next_);
  return next_;
}

void WriterLock::lock() {
  std::unique_lock lock(mutex_);
  const uint64_t own = enter();
  moved_.wait(lock, [&] { return queue_.front() == own; });
}

void WriterLock::unlock() {
  const std::lock_guard lock(mutex_);
  queue_.pop_front();
  moved_.notify_all();
}

Result<std::unique_lock<WriterLock>> WriterLock::take(const Op& op, const Host& host) {
  const OnCancel wakes(op, [this] {
    const std::lock_guard lock(mutex_);
    moved_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const uint64_t own = enter();
  std::optional<Error> over;
  const auto decided = [&] {
    over = given_up(op, host.now());
    return over || queue_.front() == own;
  };
  if (op.deadline_ns() == INT64_MAX) {
    moved_.wait(lock, decided);
  } else {
    while (!decided()) {
      const auto left = std::chrono::nanoseconds(op.deadline_ns()) - host.now();
      moved_.wait_for(lock, std::max(left, std::chrono::nanoseconds(std::chrono::milliseconds(1))));
    }
  }
  if (!over) return std::unique_lock(*this, std::adopt_lock);
  queue_.erase(std::find(queue_.begin(), queue_.end(), own));
  moved_.notify_all();
  return std::move(*over);
}

}  // namespace davit::storage_sqlite
