// Counts the calls and tasks that are in flight, so that a plugin's stop() can wait until there are
// none. Each call and task holds a ticket, and dropping the last ticket wakes the waiter.
#pragma once

#include <condition_variable>
#include <mutex>

#include "host.hpp"

namespace davit {

class Outstanding {
 public:
  // Copies share the ticket. Any thread may drop it, even after this object is destroyed.
  using Ticket = std::shared_ptr<void>;

  Ticket begin() {
    {
      std::lock_guard lock(state_->mutex);
      ++state_->count;
    }
    return Ticket(nullptr, [state = state_](void*) {
      std::lock_guard lock(state->mutex);
      if (--state->count == 0) state->none_left.notify_all();
    });
  }

  // Blocks until every ticket is dropped, at most until the op's deadline. DEADLINE_EXCEEDED says
  // how many are left.
  Result<> wait(const Host& host, const Op& op) {
    std::unique_lock lock(state_->mutex);
    auto none = [&] { return state_->count == 0; };
    if (op.deadline_ns() == INT64_MAX) {
      state_->none_left.wait(lock, none);
    } else if (!state_->none_left.wait_for(
                   lock, std::chrono::nanoseconds(op.deadline_ns()) - host.now(), none)) {
      return Error{Code::deadline_exceeded,
                   std::to_string(state_->count) + " calls have not ended"};
    }
    return {};
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable none_left;
    size_t count = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace davit
