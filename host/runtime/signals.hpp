// The process's signals, heard by a thread of their own: whatever the workers are at, somebody
// listens.
#pragma once

#include <functional>
#include <thread>

namespace davit::host {

class Signals {
 public:
  // SIGTERM, SIGINT and SIGHUP wait from now on until a Signals takes them: nothing is interrupted
  // by them. For the thread that calls it and all it makes; so before anything makes a thread.
  static void keep();

  // Calls `heard` with each of them, on its thread, in the order in which they came. After keep.
  explicit Signals(std::function<void(int signal)> heard);
  ~Signals();  // when `heard` has returned
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void listen();

  const std::function<void(int)> heard_;
  int signals_ = -1, end_ = -1;  // descriptors; the second is written to when it ends
  std::thread thread_;
};

}  // namespace davit::host
