// One watch of a storage instance.
#pragma once

#include <condition_variable>
#include <mutex>

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {

using namespace std::chrono_literals;

class Heard {
 public:
  explicit Heard(const storage::Client& client) {
    auto watch = client.watch(
        [](void* self, uint32_t what) {
          auto& heard = *static_cast<Heard*>(self);
          const std::lock_guard lock(heard.mutex_);
          heard.what_ |= what;
          heard.changed_.notify_all();
        },
        this);
    if (watch.ok()) watch_ = std::move(*watch);
  }
  bool wait(uint32_t what, std::chrono::milliseconds limit = 20s) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return (what_ & what) == what; });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    what_ = 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t what_ = 0;
  storage::Watch watch_;  // last
};

}  // namespace davit::storage_postgres
