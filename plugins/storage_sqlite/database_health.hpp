// Reports in the log and in the health, once each, that the database begins to fail, that its files
// are lost, and that it works again. Reading and writing are separate, because reads go on while
// the disk is full. [any]
#pragma once

#include <atomic>
#include <mutex>

#include "davit/host.hpp"

namespace davit::storage_sqlite {

class DatabaseHealth {
 public:
  enum Doing { reading, writing };
  explicit DatabaseHealth(const Host& host) : host_(host) {}

  // `error` is NULL if the call succeeded. Errors of the caller (a cursor, a cancelled call) say
  // nothing about the database and are ignored.
  void note(Doing doing, const Error* error) {
    State& state = states_[doing];
    if (error == nullptr) {
      if (!state.failing.load()) return;  // nearly always, and without the lock
      works(doing, state);
    } else if (ours(error->code)) {
      fails(doing, state, *error);
    }
  }

 private:
  struct State {
    std::atomic<bool> failing{false};  // changes under the mutex
    uint64_t failures = 0;             // the following are used under the mutex
    bool lost = false;                 // a failure said that the files were removed or replaced
    std::string reason;                // of the failure that was told
  };

  // What is known and what is told change together. Otherwise a failure could be told after the
  // success that ended it, and would stay.
  void works(Doing doing, State& state) {
    const std::lock_guard lock(mutex_);
    if (!state.failing.exchange(false)) return;
    host_.info("database works again",
               {{"doing", words[doing]}, {"failures", std::to_string(state.failures)}});
    state.failures = 0;
    state.lost = false;
    state.reason.clear();
    tell();
  }
  // Tells the first failure, and the first that is worse: lost files do not come back by
  // themselves, as room on a disk does.
  void fails(Doing doing, State& state, const Error& error) {
    const std::lock_guard lock(mutex_);
    const bool first = !state.failing.exchange(true);
    const bool lost = error.code == Code::data_loss;
    ++state.failures;
    if (!first && (!lost || state.lost)) return;
    state.lost = lost;
    state.reason = error.message;
    host_.error("database fails", {{"doing", words[doing]}, {"error", error.message}});
    tell();
  }
  // A database that cannot be read, or whose file is lost, is not serving. A full disk prevents
  // only changes.
  void tell() {
    const State &read = states_[reading], &write = states_[writing];
    if (read.failing) {
      host_.health(DAVIT_HEALTH_NOT_SERVING, read.reason);
    } else if (write.failing) {
      host_.health(write.lost ? DAVIT_HEALTH_NOT_SERVING : DAVIT_HEALTH_DEGRADED, write.reason);
    } else {
      host_.health(DAVIT_HEALTH_SERVING);
    }
  }
  static constexpr const char* words[] = {"reading", "writing"};
  static bool ours(Code code) {
    return code == Code::resource_exhausted || code == Code::unavailable ||
           code == Code::data_loss || code == Code::internal || code == Code::failed_precondition;
  }
  const Host host_;
  std::mutex mutex_;
  State states_[2];
};

}  // namespace davit::storage_sqlite
