#include "turn_runner.hpp"

namespace davit::recorder {

TurnRunner::TurnRunner(Host host, Outstanding& outstanding, const TurnLimits& limits)
    : host_(host),
      outstanding_(outstanding),
      turns_(limits),
      bytes_per_second_(limits.pace.bytes_per_second),
      waited_(host.histogram("davit_recorder_pace_wait_seconds",
                             "How long regions beyond their pace (bytes_per_second_per_region_max) "
                             "waited until their next call could begin.")),
      strand_(host.strand()),
      timer_(strand_) {}

Result<> TurnRunner::enter(const Turns::Ask& ask, Turns::Job job) {
  return entered(ask, turns_.enter(ask, host_.now(), std::move(job)));
}

Result<> TurnRunner::enter_refusal(const Turns::Ask& ask, Turns::Job job) {
  return entered(ask, turns_.enter_refusal(ask, host_.now(), std::move(job)));
}

Result<> TurnRunner::entered(const Turns::Ask& ask, Result<Turns::Next> next) {
  if (!next.ok()) return next.error();
  tell(ask.region, *next);
  if (next->held) look();
  for (const auto& job : next->jobs) job();
  return {};
}

void TurnRunner::leave(const std::string& region, size_t bytes) {
  Turns::Next next = turns_.leave(region, bytes, host_.now());
  tell(region, next);
  if (next.held) look();
  post(std::move(next.jobs));
}

void TurnRunner::spend(const std::string& region, size_t paced_bytes) {
  turns_.spend(region, paced_bytes, host_.now());
}

void TurnRunner::stop() {
  post(turns_.hurry(host_.now()).jobs);
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

void TurnRunner::observe(const Turns::Next& next) const {
  for (const auto waited : next.waited) waited_.observe(waited);
}

void TurnRunner::tell(const std::string& region, const Turns::Next& next) const {
  observe(next);
  if (!next.slowed) return;
  host_.warn("a region's agents say more than its pace allows; their calls wait",
             {{"region", region}, {"bytes_per_second", std::to_string(bytes_per_second_)}});
}

// A reply may come on a thread of the storage's pool, which is not there for decoding.
void TurnRunner::post(std::vector<Turns::Job> jobs) const {
  for (auto& job : jobs) {
    const Strand strand = host_.strand();
    strand.post([strand, job = std::move(job)] { job(); });
  }
}

void TurnRunner::look() {
  strand_.post([this, ticket = outstanding_.begin()] { set_timer(); });
}

void TurnRunner::set_timer() {
  const auto at = turns_.wake_at();
  if (!at || ended_) return;
  timer_.after(std::max(*at - host_.now(), Turns::Time(0)), [this] {
    Turns::Next next = turns_.wake(host_.now());
    observe(next);
    post(std::move(next.jobs));
    set_timer();
  });
}

}  // namespace davit::recorder
