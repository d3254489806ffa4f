// Says in the log and in the health, once each, that the database begins to fail and that it works
// again. [any]
#pragma once

#include <atomic>
#include <mutex>

#include "davit/host.hpp"

namespace davit::storage_postgres {

class Trouble {
 public:
  explicit Trouble(const Host& host) : host_(host) {}

  // `error` is NULL if the call succeeded. Errors of the caller (a cursor, a cancelled call) say
  // nothing about the database and are ignored.
  void note(const Error* error) {
    if (error == nullptr) {
      if (failing_.load()) works();  // nearly never, and without the lock
    } else if (is_of_the_database(error->code)) {
      fails(*error);
    }
  }

 private:
  static bool is_of_the_database(Code code) {
    return code == Code::resource_exhausted || code == Code::unavailable ||
           code == Code::data_loss || code == Code::internal || code == Code::failed_precondition;
  }
  void works() {
    const std::lock_guard lock(mutex_);
    if (!failing_.exchange(false)) return;
    host_.info("database works again", {{"failures", std::to_string(failures_)}});
    failures_ = 0;
    host_.health(DAVIT_HEALTH_SERVING);
  }
  void fails(const Error& error) {
    const std::lock_guard lock(mutex_);
    ++failures_;
    if (failing_.exchange(true)) return;
    host_.error("database fails", {{"error", error.message}});
    host_.health(DAVIT_HEALTH_NOT_SERVING, error.message);
  }

  const Host host_;
  std::atomic<bool> failing_{false};  // changes under the mutex
  std::mutex mutex_;
  uint64_t failures_ = 0;
};

}  // namespace davit::storage_postgres
