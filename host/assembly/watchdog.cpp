#include "watchdog.hpp"

#include <pthread.h>
#include <unistd.h>

namespace davit::host {

Watchdog::Watchdog(std::function<void()> last_words)
    : last_words_(std::move(last_words)), thread_(&Watchdog::watch, this) {}

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

void Watchdog::watch() {
  ::pthread_setname_np(::pthread_self(), "watchdog");
  std::unique_lock lock(mutex_);
  while (!over_ && (!when_ || Clock::now() < *when_)) {
    if (when_) {
      changed_.wait_until(lock, *when_);
    } else {
      changed_.wait(lock);
    }
  }
  if (over_) return;
  const int code = code_;
  lock.unlock();  // last_words_ takes locks under which others call end_at
  constexpr unsigned patience_s = 1;
  ::alarm(patience_s);  // writing the log may block; SIGALRM then ends the process
  last_words_();
  ::_exit(code);
}

}  // namespace davit::host
