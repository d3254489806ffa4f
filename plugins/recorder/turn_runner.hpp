// TurnRunner: runs what Turns gives, each job on a strand of its own, and wakes the regions that
// wait for their pace. Says which region does, and how long its calls wait. Any thread.
#pragma once

#include <davit/outstanding.hpp>

#include "turns.hpp"

namespace davit::recorder {

class TurnRunner {
 public:
  TurnRunner(Host host, Outstanding& outstanding, const TurnLimits& limits);

  // RESOURCE_EXHAUSTED: too much of the region waits already. A job that may go at once runs within
  // this call.
  Result<> enter(const Turns::Ask& ask, Turns::Job job);
  Result<> enter_refusal(const Turns::Ask& ask, Turns::Job job);
  // A job has ended.
  void leave(const std::string& region, size_t bytes);
  // A job that is in progress costs so much more than it was taken for.
  void spend(const std::string& region, size_t paced_bytes);
  // Whoever waits has its turn soon.
  void stop();

 private:
  Result<> entered(const Turns::Ask& ask, Result<Turns::Next> next);
  void observe(const Turns::Next& next) const;
  void tell(const std::string& region, const Turns::Next& next) const;
  void post(std::vector<Turns::Job> jobs) const;
  void look();
  void set_timer();

  const Host host_;
  Outstanding& outstanding_;
  Turns turns_;
  const size_t bytes_per_second_;
  const Metric waited_;

  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

}  // namespace davit::recorder
