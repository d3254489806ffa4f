// Ticker runs a task periodically on a strand of its own. Rpc uses it for what servers do every
// second without a disk; FileReader is for tasks that may wait for one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include <davit/host.hpp>

namespace davit::host {

class Ticker {
 public:
  // The first run is after one interval. The task must not block.
  Ticker(Strand strand, std::chrono::milliseconds interval, std::function<void()> task)
      : strand_(std::move(strand)), state_(std::make_shared<State>(strand_, interval)) {
    state_->task = std::move(task);
    strand_.post([state = state_] { again(state); });
  }
  // Waits for a task that is running. No task runs afterwards. [any]
  ~Ticker() {
    {
      const std::lock_guard lock(state_->mutex);
      state_->task = nullptr;
    }
    strand_.post([state = std::move(state_)] {});  // the timer must be destroyed on its strand
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  struct State {
    State(Strand s, std::chrono::milliseconds i) : timer(std::move(s)), interval(i) {}
    Timer timer;
    const std::chrono::milliseconds interval;
    std::mutex mutex;
    std::function<void()> task;
  };
  static void again(const std::shared_ptr<State>& state) {
    state->timer.after(state->interval, [weak = std::weak_ptr<State>(state)] {
      const auto held = weak.lock();
      if (!held) return;
      {
        const std::lock_guard lock(held->mutex);
        if (!held->task) return;
        held->task();
      }
      again(held);
    });
  }
  const Strand strand_;
  std::shared_ptr<State> state_;
};

}  // namespace davit::host
