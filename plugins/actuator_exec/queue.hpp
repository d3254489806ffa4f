// Queue: the calls that are open. So many are carried out at once, each on a thread, and the others
// wait in the order in which they came. Who waits and gives up is answered at once.
//
// The threads are this object's own: a program may run for minutes, and the host would take a
// thread of its pool that is held so long for one that hangs. A program dies with its thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "runner.hpp"

namespace davit::actuator_exec {

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  Queue(Host host, Runner& runner)
      : host_(host), runner_(runner), strand_(host.strand()), timer_(strand_) {}

  void start();
  // Answers all, ends the programs, and waits for them. No call is taken any more.
  Result<> stop(const Op& op);
  void call(const Op& op, Operation operation, actuator::Call call, actuator::Done done);  // [any]

 private:
  using Open = std::shared_ptr<OpenCall>;

  std::optional<Error> take(const Open& open);
  void work();
  void look_soon();
  void look();
  void wait_for_threads(const Op& op);

  const Host host_;
  Runner& runner_;
  const Strand strand_;
  Timer timer_;  // on the strand: the next deadline of what waits
  Outstanding outstanding_;
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool taking_ = false;
  size_t threads_left_ = 0;
  std::deque<Open> waiting_;
  std::vector<Open> running_;
};

}  // namespace davit::actuator_exec
