// The lock of the one writer. It goes to those who wait in the order in which they came: a mutex
// goes to a thread that asks again at once, and commits that never pause would keep out the thread
// that moves the journal. Who waits with an op gives up with it. Any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "davit/host.hpp"
#include "davit/operation.hpp"

namespace davit::storage_sqlite {

class WriterLock {
 public:
  // Waits as long as it takes.
  void lock();
  void unlock();
  // CANCELLED or DEADLINE_EXCEEDED: the caller gave up first.
  Result<std::unique_lock<WriterLock>> take(const Op& op, const Host& host);

 private:
  uint64_t enter();

  std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<uint64_t> queue_;  // the first one has the lock
  uint64_t next_ = 0;
};

}  // namespace davit::storage_sqlite
