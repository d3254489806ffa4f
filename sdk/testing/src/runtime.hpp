// Runtime: the threads and the time of a TestHost, with strands, timers and blocking pools. Time is
// real, with threads of its own, or manual, on the test's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "davit/host.hpp"

namespace davit::testing {

class Runtime {
 public:
  explicit Runtime(bool manual);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  struct Strand;
  Strand* strand();
  static void retain(Strand* s);
  static void release(Strand* s);
  static void post(Strand* s, davit_task task, void* arg);
  static uint64_t timer(Strand* s, int64_t delay_ns, davit_timer_task task, void* arg);
  static void timer_cancel(Strand* s, uint64_t timer);
  // At most `limit` tasks of one pool run at once.
  void blocking(const std::string& pool, uint32_t limit, std::function<void()> task);

  int64_t monotonic_ns() const;
  int64_t unix_ns() const;
  uint64_t random();
  void seed(uint64_t seed);
  static void seed_all(uint64_t seed);

  bool manual() const { return manual_; }
  void run();
  void advance(int64_t by_ns);
  bool run_until(const std::function<bool()>& done, int64_t limit_ns);
  // Cancels timers, runs the waiting tasks and ends the threads. Afterwards no task runs.
  void shut_down();
  // Whether this thread runs a task of a strand.
  static bool on_a_strand();

 private:
  struct Timer {
    Strand* strand;
    uint64_t id;
    davit_timer_task task;
    void* arg;
  };
  struct Pool {
    std::deque<std::function<void()>> waiting;
    uint32_t limit = 1, threads = 0, idle = 0;
    std::condition_variable wake;
  };
  using Lock = std::unique_lock<std::mutex>;

  void enqueue(Strand* s, std::function<void()> task);  // with the lock held
  void unreference(Strand* s);                          // with the lock held
  void fire(Timer t, int32_t fired);                    // with the lock held
  bool fire_due(int64_t now);                           // with the lock held
  void run_one(Lock& lock);                             // one task of the next ready strand
  void run_ready();                                     // manual: until no task is ready
  void run_timers(int64_t by_ns);                       // manual: tasks, and timers due by then
  void move_to(int64_t now);                            // manual: moves time, with the lock held
  void count_step();                                    // manual: before each task
  void work();                                          // a thread that serves strands and timers
  void work(Pool& pool);                                // a thread that serves a pool
  bool busy() const;                                    // with the lock held

  const bool manual_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, quiet_;
  std::deque<Strand*> ready_;
  std::multimap<int64_t, Timer> timers_;
  std::map<std::string, Pool> pools_;
  std::vector<std::thread> threads_;
  std::mt19937_64 random_;
  int64_t now_ = 0;     // manual time
  uint64_t steps_ = 0;  // manual: tasks since time moved, within one call from outside
  uint64_t last_timer_ = 0;
  uint32_t running_ = 0;
  bool stopping_ = false;
};

}  // namespace davit::testing
