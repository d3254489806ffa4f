#include "agent_metrics.hpp"

#include <limits>

namespace davit::recorder {

namespace {
// Agents come and go while the process lives: so many names are shown for each place of a region.
constexpr size_t names_a_place = 8;
// The value of a gauge whose agent is gone. It is not shown until it is set again.
constexpr double gone = std::numeric_limits<double>::quiet_NaN();
}  // namespace

AgentMetrics::AgentMetrics(Host host, storage::Client storage, Outstanding& outstanding,
                           std::chrono::milliseconds stale_after, const Limits& limits)
    : host_(host),
      storage_(std::move(storage)),
      outstanding_(outstanding),
      stale_after_(stale_after),
      applied_(host.histogram("davit_recorder_applied_seconds",
                              "From a change's commit until an agent says that it is applied.")),
      errors_(
          host.counter("davit_recorder_storage_errors_total", "Calls of the store that failed.")),
      fleet_(limits.agents, limits.agents_a_region * names_a_place),
      strand_(host.strand()),
      timer_(strand_) {}

void AgentMetrics::heard(const Progress& progress) {
  // ctrl.v1 has no cursors, so its agents have no lag.
  const bool says = !progress.kinds.empty();
  const std::optional<uint64_t> behind = says ? lag(progress) : std::nullopt;
  const Fleet::Name name{progress.region, progress.agent};
  const std::lock_guard lock(mutex_);
  if (!fleet_.heard(progress)) {
    if (!std::exchange(full_, true))
      host_.warn("too many names of agents: new ones are not shown in the metrics",
                 {{"region", progress.region}, {"agent", progress.agent}});
    return;
  }
  seen_of(name).set(static_cast<double>(progress.seen_at_unix_ms) / 1000);
  if (behind) lag_of(name).set(static_cast<double>(*behind));
  show_issues(progress.region);
}

bool AgentMetrics::read_on() {
  auto r = backlog_.refresh(storage_, [this] { return !stopping_; });
  if (!r.ok() && !stopping_) errors_.add();
  return r.ok() && *r;
}

std::optional<uint64_t> AgentMetrics::lag(const Progress& progress) {
  // Nobody waits for a metric: during another read the lag is left to the agent's next Progress.
  if (!read_on()) return std::nullopt;
  uint64_t sum = 0;
  for (const auto& k : progress.kinds) {
    std::optional<Cursor> before;
    {
      const std::lock_guard lock(mutex_);
      before = fleet_.applied_before({progress.region, progress.agent}, k.kind);
    }
    // The changes of a snapshot do not count: the agent did not wait for them since their commit.
    if (before && before->version && before->version < k.applied.version)
      observe(progress.region, k, *before, progress.seen_at_unix_ms);
    sum += backlog_.above(k.kind, progress.region, k.applied);
  }
  return sum;
}

void AgentMetrics::observe(const std::string& region, const KindProgress& now, Cursor before,
                           int64_t now_unix_ms) const {
  backlog_.between(now.kind, region, before, now.applied, [&](int64_t committed_at_unix_ms) {
    // The store may run on another machine, whose clock may be ahead.
    const int64_t ms = std::max<int64_t>(0, now_unix_ms - committed_at_unix_ms);
    applied_.observe(std::chrono::milliseconds(ms));
  });
}

Metric AgentMetrics::lag_of(const Fleet::Name& name) const {
  return host_.gauge("davit_recorder_agent_lag_records",
                     "Records that an agent has not applied yet; 1000 of a kind at most.",
                     {{"region", name.region}, {"agent", name.agent}});
}

Metric AgentMetrics::seen_of(const Fleet::Name& name) const {
  return host_.gauge("davit_recorder_agent_seen_timestamp_seconds",
                     "When an agent was heard of last.",
                     {{"region", name.region}, {"agent", name.agent}});
}

void AgentMetrics::show_issues(const std::string& region) {
  for (const auto& [condition, count] : fleet_.issues(region)) {
    host_
        .gauge("davit_recorder_issues", "Issues that agents tell of, by condition.",
               {{"region", region}, {"condition", condition}})
        .set(static_cast<double>(count));
  }
}

void AgentMetrics::start() {
  // The first read of the backlog reads the whole store.
  host_.blocking(storage_.instance(), [this, ticket = outstanding_.begin()] { read_on(); });
  strand_.post([this, ticket = outstanding_.begin()] { sweep(); });
}

void AgentMetrics::stop() {
  stopping_ = true;
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

void AgentMetrics::sweep() {
  if (ended_) return;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& name : fleet_.forget(host_.unix_ms() - stale_after_.count())) {
      lag_of(name).set(gone);
      seen_of(name).set(gone);
      show_issues(name.region);
    }
  }
  timer_.after(stale_after_ / 4, [this] { sweep(); });
}

}  // namespace davit::recorder
