// Receives the process's signals on a thread of its own, so that a signal is handled even when all
// workers are busy.
#pragma once

#include <functional>
#include <thread>

namespace davit::host {

class Signals {
 public:
  // Blocks SIGTERM, SIGINT and SIGHUP: from now on they wait until a Signals receives them, and
  // interrupt nothing. The mask applies to the calling thread and to threads that it starts later,
  // so call this before the first thread is started.
  static void keep();

  // Calls `heard` for each of these signals, on its own thread, in the order of their arrival. Call
  // keep() first.
  explicit Signals(std::function<void(int signal)> heard);
  ~Signals();  // waits until `heard` has returned
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void listen();

  const std::function<void(int)> heard_;
  int signals_ = -1, end_ = -1;  // descriptors; the destructor writes to end_
  std::thread thread_;
};

}  // namespace davit::host
