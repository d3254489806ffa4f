#include "concurrency_limit.hpp"

#include <algorithm>

namespace davit::controller {
namespace {

// No more than other controllers do at once. Latency alone never shrinks the limit below this: our
// changes give the cluster's controllers work, and that work slows the API server down. Fewer
// requests would only make us later. An overloaded API server says so.
constexpr size_t modest = 16;
// With so few requests under way nobody waits for us.
constexpr size_t light_load = 2;
// Fewer answers say nothing about a median.
constexpr size_t round_min = 16;
// Below the first factor of the time under light load, more requests mean more throughput. Above
// the second they only wait in a longer queue. Between the two the API server stays busy without a
// gap.
constexpr double slowdown_free = 2;
constexpr double slowdown_max = 4;
// One step of a median. A smaller step is calmer and slower: 33 answers move the median by e.
constexpr double step_min = 1.0 / 32;
// How often the limit grows by one above the ceiling. A refusal (usually) costs a pause of a
// second, so refusals must be rare.
constexpr std::chrono::seconds probe_every{5};
// After this time the API server's capacity may have changed.
constexpr std::chrono::minutes ceiling_holds{5};
// A proxy may ask for a pause of an hour. After this time one request at a time checks whether that
// still holds.
constexpr std::chrono::seconds pause_max{30};

void move_towards(double& median, double sample, double step) {
  median *= sample > median ? 1 + step : 1 / (1 + step);
}

}  // namespace

bool overloaded(const cluster::Response& r) {
  if (r.http_status == 0) return r.code == Code::unavailable || r.code == Code::deadline_exceeded;
  if (r.http_status == 429) return true;
  return r.http_status > 500 || (r.http_status == 500 && r.retry_after.count() > 0);
}

ConcurrencyLimit::ConcurrencyLimit(size_t most)
    : most_(most), limit_(std::min(modest, most)), ceiling_(most) {}

double ConcurrencyLimit::Latency::add(double took, bool lightly_loaded) {
  if (answers++ == 0) recent = light = took;
  // The first few steps are large, so that the start value does not matter.
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
  // Requests that were under way when the limit shrank report the same overload again.
  if (sent <= shrunk_at_) return;
  // Only the first of several overloads says where too much begins. The later ones say that the API
  // server is away.
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

}  // namespace davit::controller
