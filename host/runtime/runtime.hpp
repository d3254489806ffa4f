// The host's threads: workers that run strands and timers, and one bounded pool per plugin instance
// for calls that may block. Boost.Asio stays in runtime.cpp and strand.cpp.
//
// Every task runs exactly once, also those that wait when the host stops: timers then run with
// fired = 0.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <davit/abi/services.h>

namespace boost::asio {
class io_context;
}

namespace davit::host {

class Pool;

class Runtime {
 public:
  // workers 0: one per core, at least 2.
  explicit Runtime(unsigned workers = 0);
  ~Runtime();  // as shutdown
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // One reference, the caller's. `owner` is whom a task that does not return is put down to. [any]
  davit_strand* strand(std::string_view owner = {});
  static void retain(davit_strand*);
  static void release(davit_strand*);
  static void post(davit_strand*, davit_task, void* arg);
  static uint64_t timer(davit_strand*, int64_t delay_ns, davit_timer_task, void* arg);
  static void cancel(davit_strand*, uint64_t timer);
  // The table of the slots above, for code that wants davit::Strand and davit::Timer of sdk
  // host.hpp. Its `strand` and `blocking` need an instance's host; see services/exec.hpp.

  // Runs `task` on a worker, outside of any strand. It must not block. [any]
  void post(std::function<void()> task);

  // A pool named after its instance (thread names); lives as long as the runtime.
  Pool& pool(std::string_view instance, unsigned max_concurrency);

  // Cancels the timers (fired = 0), runs what is queued, ends the threads; false when that was not
  // done by the deadline: then threads are still at it and the process must end with _exit.
  // Idempotent.
  bool shutdown(std::chrono::steady_clock::time_point deadline);
  // What shutdown waits for: the name of a pool that still has work, the owner of a strand whose
  // task runs, or "workers".
  std::string busy() const;
  // Whose task runs on this thread: the owner of its strand, otherwise the thread's name, which a
  // pool's is its instance's.
  static std::string current_owner();
  // The owner of a strand whose task has held a worker for longer than a task may; empty: none.
  std::string hog() const;
  // After shutdown: runs what has been posted since, on the caller's thread.
  void run_rest();

  // For the host's own sockets; run by the workers until shutdown.
  boost::asio::io_context& io();

  struct State;  // of runtime.cpp

 private:
  std::shared_ptr<State> state_;
};

}  // namespace davit::host
