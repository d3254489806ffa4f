#include "watchdog.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>

namespace davit::host {

Watchdog::Watchdog(std::function<void()> look, std::function<void()> last_words)
    : look_(std::move(look)), last_words_(std::move(last_words)), thread_(&Watchdog::watch, this) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::end_at(Clock::time_point when, int code) {
  {
    std::lock_guard lock(mutex_);
    if (when_ && *when_ <= when) return;
    when_ = when;
    code_ = code;
  }
  changed_.notify_all();
}

void Watchdog::look_every(std::chrono::milliseconds interval) {
  {
    std::lock_guard lock(mutex_);
    interval_ = interval;
  }
  changed_.notify_all();
}

void Watchdog::watch() {
  ::pthread_setname_np(::pthread_self(), "watchdog");
  std::unique_lock lock(mutex_);
  auto last = Clock::now();
  while (!over_ && (!when_ || Clock::now() < *when_)) {
    const auto next = last + interval_;
    changed_.wait_until(lock, when_ ? std::min(*when_, next) : next);
    if (Clock::now() < next) continue;
    last = Clock::now();
    lock.unlock();  // look_ and last_words_ take locks under which others call end_at
    look_();
    lock.lock();
  }
  if (over_) return;
  const int code = code_;
  lock.unlock();
  constexpr unsigned patience_s = 1;
  ::alarm(patience_s);  // writing the log may block; SIGALRM then ends the process
  last_words_();
  ::_exit(code);
}

}  // namespace davit::host
