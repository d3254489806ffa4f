#include "concurrency_limit.hpp"

#include <algorithm>

namespace davit::applier {
namespace {

// No more than other controllers do at once. Latency alone never shrinks the limit further: what we
// make gives the cluster's controllers work, and the server slows down because of them; with fewer
// requests we would only be later. A server that really has enough says so.
constexpr size_t modest = 16;
// With so many under way nobody waits for us.
constexpr size_t light_load = 2;
// Fewer answers say nothing about a median.
constexpr size_t round_min = 16;
// As long as answers take less than so many times what they take under light load, more requests
// are more throughput; above the second they only wait in a longer queue. What lies between keeps
// the server busy without a gap.
constexpr double slowdown_free = 2;
constexpr double slowdown_max = 4;
// One step of a median. Smaller is calmer and later: 33 answers move it by e.
constexpr double step_min = 1.0 / 32;
// Above the ceiling: a refusal costs a pause of (usually) a second, so they are to be rare.
constexpr std::chrono::seconds probe_every{5};
// The server's capacity may have changed since.
constexpr std::chrono::minutes ceiling_holds{5};
// A proxy may ask for an hour; then one request a while asks whether that is still so.
constexpr std::chrono::seconds pause_max{30};

void move_towards(double& median, double sample, double step) {
  median *= sample > median ? 1 + step : 1 / (1 + step);
}

}  // namespace

ConcurrencyLimit::ConcurrencyLimit(size_t most)
    : most_(most), limit_(std::min(modest, most)), ceiling_(most) {}

double ConcurrencyLimit::Latency::add(double took, bool lightly_loaded) {
  if (answers++ == 0) recent = light = took;
  // The first few go far, so that it does not matter where it began.
  const double step = std::max(step_min, 1.0 / static_cast<double>(answers));
  move_towards(recent, took, step);
  if (lightly_loaded) move_towards(light, took, step);
  light = answers < round_min ? recent : std::min(light, recent);
  return recent / light;
}

void ConcurrencyLimit::answered(const std::string& like, Time took, size_t under_way, Time now) {
  const auto ns = static_cast<double>(std::max<int64_t>(took.count(), 1));
  slowdowns_ += latencies_[like].add(ns, under_way <= light_load);
  if (under_way >= limit_) ++answers_in_full_use_;
  if (++answers_ >= std::max(limit_, round_min)) judge(now);
}

void ConcurrencyLimit::judge(Time now) {
  const double slowdown = slowdowns_ / static_cast<double>(answers_);
  const bool in_full_use = 2 * answers_in_full_use_ >= answers_;
  if (slowdown > slowdown_max && limit_ > modest) {
    limit_ = std::max(modest, limit_ - limit_ / 8);
  } else if (in_full_use && (slowdown < slowdown_free || limit_ < modest)) {
    grow(now);
  }
  round_completed_ = true;
  begin_round();
}

void ConcurrencyLimit::grow(Time now) {
  const size_t ceiling = now - shrunk_at_ < ceiling_holds ? ceiling_ : most_;
  if (limit_ < ceiling) {
    limit_ = std::min(ceiling, limit_ + std::max<size_t>(limit_ / 4, 1));
    grown_at_ = now;
  } else if (limit_ < most_ && now - grown_at_ >= probe_every) {
    ++limit_;
    grown_at_ = now;
  }
}

void ConcurrencyLimit::overloaded(Time sent, Time retry_after, Time now) {
  if (retry_after.count() > 0)
    paused_until_ = std::max(paused_until_, now + std::min<Time>(retry_after, pause_max));
  // Those that were under way when it shrank say the same once more.
  if (sent <= shrunk_at_) return;
  // Only the first of several says where too much begins; the others that the server is away.
  if (round_completed_) ceiling_ = std::max<size_t>(limit_ * 3 / 4, 1);
  round_completed_ = false;
  limit_ = std::max<size_t>(limit_ / 2, 1);
  shrunk_at_ = now;
  begin_round();
}

void ConcurrencyLimit::begin_round() {
  answers_ = 0;
  answers_in_full_use_ = 0;
  slowdowns_ = 0;
}

}  // namespace davit::applier
