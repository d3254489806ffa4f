// What blocks, such as a stop, while the tasks of a host are this thread's to run.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include <davit/testing/module.hpp>

namespace davit::testing {

// Runs what blocks until something else has run, which on a manual clock is this thread's to do:
// `turn`, again and again, and the tasks of the host.
inline void run_beside(
    TestHost& host, const std::function<void()>& blocking,
    const std::function<void()>& turn = [] {}) {
  std::atomic<bool> done{false};
  std::thread thread([&] {
    blocking();
    done = true;
  });
  while (!done) {
    turn();
    host.run();
  }
  thread.join();
}

inline Result<> stop_running(Instance& instance, TestHost& host,
                             std::chrono::nanoseconds limit = std::chrono::seconds(10)) {
  Result<> result;
  run_beside(host, [&] { result = instance.stop(limit); });
  return result;
}

}  // namespace davit::testing
