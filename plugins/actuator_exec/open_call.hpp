// OpenCall: one call of reconcile or remove, from the caller's question to the one answer (rule
// T1). One owner at a time: the queue while it waits, then the thread that carries it out.
#pragma once

#include <optional>

#include "davit/actuator.hpp"
#include "davit/operation.hpp"
#include "davit/outstanding.hpp"
#include "process/process.hpp"
#include "request.hpp"

namespace davit::actuator_exec {

class OpenCall {
 public:
  OpenCall(const Op& op, Operation operation, actuator::Call call, actuator::Done done,
           Outstanding::Ticket ticket)
      : op_(op),
        operation_(operation),
        call_(std::move(call)),
        done_(std::move(done)),
        ticket_(std::move(ticket)) {}

  Operation operation() const { return operation_; }
  const actuator::Call& call() const { return call_; }
  // Ends the program.
  const process::Stopper& stopper() const { return stopper_; }

  // `told` is called when the caller gives up, on the thread that does so.
  void listen(std::function<void()> told) { on_cancel_.emplace(op_, std::move(told)); }
  // Why nobody waits any more. Not after the answer: the op has gone then.
  std::optional<Error> given_up(std::chrono::nanoseconds now) const {
    return davit::given_up(op_, now);
  }
  std::chrono::nanoseconds deadline() const { return std::chrono::nanoseconds(op_.deadline_ns()); }

  bool answered() const { return !done_; }
  void answer(const actuator::Outcome& outcome) {
    on_cancel_.reset();
    const auto done = std::exchange(done_, nullptr);
    done(outcome);
    ticket_.reset();
  }
  void fail(Error error) {
    actuator::Outcome outcome;
    outcome.error = std::move(error);
    answer(outcome);
  }

 private:
  const Op op_;
  const Operation operation_;
  const actuator::Call call_;
  const process::Stopper stopper_;
  actuator::Done done_;  // empty: it is answered
  std::optional<OnCancel> on_cancel_;
  Outstanding::Ticket ticket_;
};

}  // namespace davit::actuator_exec
