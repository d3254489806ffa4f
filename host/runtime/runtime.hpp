// The host's threads: workers that run strands and timers, and one bounded pool per plugin instance
// for calls that may block. This header does not include Boost.Asio.
//
// Every task runs exactly once. This includes tasks that wait when the host stops: timers then run
// with fired = 0.
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
  // workers = 0: one per core, at least 2.
  explicit Runtime(unsigned workers = 0);
  ~Runtime();  // like shutdown without a deadline, then run_rest
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Returns a strand with one reference, which the caller owns. `owner` is the instance that
  // is named when a task of the strand does not return or ends the process. [any]
  davit_strand* strand(std::string_view owner = {});
  static void retain(davit_strand*);
  static void release(davit_strand*);
  static void post(davit_strand*, davit_task, void* arg);
  static uint64_t timer(davit_strand*, int64_t delay_ns, davit_timer_task, void* arg);
  static void cancel(davit_strand*, uint64_t timer);
  // The functions above are the slots of the service davit.exec (services/exec_service.cpp).

  // Runs `task` on a worker, outside any strand. The task must not block. [any]
  void post(std::function<void()> task);

  // The pool of an instance; its threads have the instance's name. Lives as long as the runtime.
  Pool& pool(std::string_view instance, unsigned max_concurrency);

  // The name of a pool in which tasks have been waiting for longer than this without one having
  // begun. Empty: there is none. [any]
  std::string pool_that_stands_still(std::chrono::nanoseconds longer_than);

  // Cancels the timers (fired = 0), runs the queued tasks and ends the threads. False: the deadline
  // passed first. Threads are then still running, and the process must end with _exit. Idempotent.
  bool shutdown(std::chrono::steady_clock::time_point deadline);
  // What shutdown waits for: the name of a pool that has work, the owner of a strand whose task is
  // running, or "workers".
  std::string busy() const;
  // After shutdown: runs tasks that have been posted since, on the caller's thread.
  void run_rest();

  // For the host's own sockets. The workers run it until shutdown.
  boost::asio::io_context& io();

  struct State;  // in runtime.cpp

 private:
  std::shared_ptr<State> state_;
};

}  // namespace davit::host
