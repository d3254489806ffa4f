// Says in the log, once each, that the database begins to fail and that it works again. The health
// has why it failed last. On a full disk reads go on, and small writes may find room: then the
// health is degraded until a write succeeds when none has failed for ten seconds. [any]
#pragma once

#include <atomic>
#include <mutex>

#include "davit/host.hpp"

namespace davit::storage_postgres {

class Trouble {
 public:
  enum class Access { read, write };
  explicit Trouble(const Host& host) : host_(host) {}

  // `error` is NULL if the call succeeded. Errors of the caller (a cursor, a cancelled call) say
  // nothing about the database and are ignored.
  void note(Access access, const Error* error) {
    if (error != nullptr) {
      const bool full = access == Access::write && error->code == Code::resource_exhausted;
      if (is_of_the_database(error->code)) begins(full ? State::full : State::fails, *error);
      return;
    }
    if (state_.load() != State::works) succeeds(access);  // nearly never, and without the lock
  }

 private:
  enum class State { works, full, fails };
  static bool is_of_the_database(Code code) {
    return code == Code::resource_exhausted || code == Code::unavailable ||
           code == Code::data_loss || code == Code::internal || code == Code::failed_precondition;
  }
  void succeeds(Access access) {
    constexpr std::chrono::seconds calm{10};
    const std::lock_guard lock(mutex_);
    const bool tells = access == Access::write && host_.now() - failed_at_ >= calm;
    if (state_.load() == State::full && !tells) return;
    if (state_.exchange(State::works) == State::works) return;
    host_.info("database works again", {{"failures", std::to_string(failures_)}});
    failures_ = 0;
    host_.health(DAVIT_HEALTH_SERVING);
  }
  void begins(State state, const Error& error) {
    const std::lock_guard lock(mutex_);
    ++failures_;
    failed_at_ = host_.now();
    const bool another = state_.exchange(state) != state;
    if (std::exchange(why_, error.message) != error.message || another)
      host_.health(state == State::full ? DAVIT_HEALTH_DEGRADED : DAVIT_HEALTH_NOT_SERVING, why_);
    if (another)
      host_.error(state == State::full ? "database takes no writes" : "database fails",
                  {{"error", error.message}});
  }

  const Host host_;
  std::atomic<State> state_{State::works};  // changes under the mutex
  std::mutex mutex_;
  uint64_t failures_ = 0;
  std::string why_;                        // the last time
  std::chrono::nanoseconds failed_at_{0};  // the last time
};

}  // namespace davit::storage_postgres
