// TurnRunner: the asynchronous edge of Turns. It runs each job in its region's turn and wakes the
// regions that wait for their pace. It logs which region is beyond its pace, and measures how long
// its calls wait. Any thread.
#pragma once

#include <atomic>

#include "outstanding.hpp"
#include "rpc.hpp"
#include "turns.hpp"

namespace davit {

class TurnRunner {
 public:
  // `waited` is a histogram: how long a region beyond its pace waits until its next call may begin.
  // A runner without a pace does not need it. Each call that runs or waits holds a ticket of
  // `outstanding`, which must outlive the runner.
  TurnRunner(Host host, Outstanding& outstanding, const TurnLimits& limits, Metric waited = {})
      : host_(host),
        outstanding_(outstanding),
        turns_(limits),
        bytes_per_second_(limits.pace.bytes_per_second),
        waited_(waited),
        strand_(host.strand()),
        timer_(strand_) {}

  // Runs `work` in its region's turn, within this call or later on a strand, with no lock held.
  // `work` calls the reply that it gets once, and this ends the turn. `work` does not run when too
  // many bytes of the region wait (RESOURCE_EXHAUSTED), when the deadline passes before the turn
  // comes (DEADLINE_EXCEEDED), or after stop (UNAVAILABLE). Then `reply` gets that error.
  void in_turn(const Turns::Ask& ask, const rpc::Server::Reply& reply,
               std::function<void(rpc::Server::Reply)> work);
  // A job in progress costs `paced_bytes` more than its Ask said.
  void spend(const std::string& region, size_t paced_bytes);
  // Calls that wait get UNAVAILABLE soon.
  void stop();

 private:
  // A reply that also ends the turn.
  rpc::Server::Reply ending(const std::string& region, size_t bytes, rpc::Server::Reply reply);
  Result<> entered(const Turns::Ask& ask, Result<Turns::Next> next);
  void leave(const std::string& region, size_t bytes);
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
  std::atomic<bool> stopping_{false};

  // On the strand.
  Strand strand_;
  Timer timer_;
  bool ended_ = false;
};

inline void TurnRunner::in_turn(const Turns::Ask& ask, const rpc::Server::Reply& reply,
                                std::function<void(rpc::Server::Reply)> work) {
  auto job = [this, deadline = ask.deadline, work = std::move(work),
              ends = ending(ask.region, ask.bytes, reply)] {
    if (stopping_) return ends(shutting_down());
    // The caller no longer waits for this call, and asks again.
    if (deadline <= host_.now())
      return ends(Error{Code::deadline_exceeded, "the deadline has passed"});
    work(ends);
  };
  auto turn = entered(ask, turns_.enter(ask, host_.now(), std::move(job)));
  if (!turn.ok()) {
    auto refuse = [ends = ending(ask.region, 0, reply), e = turn.error()] { ends(e); };
    turn = entered(ask, turns_.enter_refusal(ask, host_.now(), std::move(refuse)));
  }
  if (!turn.ok()) reply(turn.error());
}

inline rpc::Server::Reply TurnRunner::ending(const std::string& region, size_t bytes,
                                             rpc::Server::Reply reply) {
  return [this, region, bytes, reply = std::move(reply),
          ticket = outstanding_.begin()](Result<std::string> answer) {
    leave(region, bytes);
    reply(std::move(answer));
  };
}

inline Result<> TurnRunner::entered(const Turns::Ask& ask, Result<Turns::Next> next) {
  if (!next.ok()) return next.error();
  tell(ask.region, *next);
  if (next->held) look();
  for (const auto& job : next->jobs) job();
  return {};
}

inline void TurnRunner::leave(const std::string& region, size_t bytes) {
  Turns::Next next = turns_.leave(region, bytes, host_.now());
  tell(region, next);
  if (next.held) look();
  post(std::move(next.jobs));
}

inline void TurnRunner::spend(const std::string& region, size_t paced_bytes) {
  turns_.spend(region, paced_bytes, host_.now());
}

inline void TurnRunner::stop() {
  stopping_ = true;  // before the waiting jobs run
  post(turns_.hurry(host_.now()).jobs);
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

inline void TurnRunner::observe(const Turns::Next& next) const {
  for (const auto waited : next.waited) waited_.observe(waited);
}

inline void TurnRunner::tell(const std::string& region, const Turns::Next& next) const {
  observe(next);
  if (!next.slowed) return;
  host_.warn("a region's agents ask for more than its pace allows; their calls wait",
             {{"region", region}, {"bytes_per_second", std::to_string(bytes_per_second_)}});
}

// Each job gets its own strand: the caller may be on a thread of the storage's pool, which must not
// decode requests.
inline void TurnRunner::post(std::vector<Turns::Job> jobs) const {
  for (auto& job : jobs) {
    const Strand strand = host_.strand();
    strand.post([strand, job = std::move(job)] { job(); });
  }
}

inline void TurnRunner::look() {
  strand_.post([this, ticket = outstanding_.begin()] { set_timer(); });
}

inline void TurnRunner::set_timer() {
  const auto at = turns_.wake_at();
  if (!at || ended_) return;
  timer_.after(std::max(*at - host_.now(), Turns::Time(0)), [this] {
    Turns::Next next = turns_.wake(host_.now());
    observe(next);
    post(std::move(next.jobs));
    set_timer();
  });
}

}  // namespace davit
