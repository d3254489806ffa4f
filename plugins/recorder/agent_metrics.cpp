#include "agent_metrics.hpp"

#include <limits>

namespace davit::recorder {

namespace {
constexpr size_t agents_max = 20'000;
// An agent that is further behind than a page of a kind is shown with that many.
constexpr uint32_t records_per_page = 1000;
constexpr uint64_t bytes_per_page = 4 << 20;
// A gauge of what has gone: not shown until it is set again.
constexpr double gone = std::numeric_limits<double>::quiet_NaN();
}  // namespace

AgentMetrics::AgentMetrics(Host host, storage::Client storage, Outstanding& outstanding,
                           std::chrono::milliseconds stale_after)
    : host_(host),
      storage_(std::move(storage)),
      outstanding_(outstanding),
      stale_after_(stale_after),
      applied_(host.histogram("davit_recorder_applied_seconds",
                              "From a change's commit until an agent says that it is applied.")),
      errors_(
          host.counter("davit_recorder_storage_errors_total", "Calls of the store that failed.")),
      fleet_(agents_max),
      strand_(host.strand()),
      timer_(strand_) {}

void AgentMetrics::heard(const Progress& progress) {
  // A wire that has no word for cursors says nothing of lag.
  const bool says = !progress.kinds.empty();
  Result<uint64_t> behind = says ? lag(progress) : Result<uint64_t>(0);
  if (!behind.ok()) errors_.add();
  const Fleet::Name name{progress.region, progress.agent};
  const std::lock_guard lock(mutex_);
  if (!fleet_.heard(progress)) {
    if (!std::exchange(full_, true))
      host_.warn("too many agents: new ones are not shown in the metrics",
                 {{"agents_max", std::to_string(agents_max)}});
    return;
  }
  seen_of(name).set(static_cast<double>(progress.seen_at_unix_ms) / 1000);
  if (says && behind.ok()) lag_of(name).set(static_cast<double>(*behind));
  show_issues(progress.region);
}

Result<uint64_t> AgentMetrics::lag(const Progress& progress) {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  uint64_t sum = 0;
  for (const auto& k : progress.kinds) {
    const Scope scope{k.kind, progress.region};
    std::optional<Cursor> before;
    {
      const std::lock_guard lock(mutex_);
      before = fleet_.applied_before({progress.region, progress.agent}, k.kind);
    }
    // What a snapshot brought was not waited for since its commit.
    if (before && before->version != 0 && before->version < k.applied.version)
      observe(scope, *before, k.applied, progress.seen_at_unix_ms);
    if (k.applied == head->head) continue;
    auto count = newer(scope, k.applied);
    // A cursor of another history says nothing about this one: nothing counts as applied.
    if (!count.ok() && count.error().code == Code::out_of_range) count = newer(scope, {});
    if (!count.ok()) return count.error();
    sum += *count;
  }
  return sum;
}

Result<uint64_t> AgentMetrics::newer(const Scope& scope, Cursor applied) const {
  uint64_t count = 0;
  auto page = storage_.read({scope, applied, 0, records_per_page, bytes_per_page},
                            [&](const davit_record&) {
                              ++count;
                              return true;
                            });
  if (!page.ok()) return page.error();
  return count;
}

void AgentMetrics::observe(const Scope& scope, Cursor before, Cursor applied,
                           int64_t now_unix_ms) const {
  // What cannot be read (another history, purged meanwhile) is not observed.
  static_cast<void>(storage_.read(
      {scope, before, 0, records_per_page, bytes_per_page}, [&](const davit_record& r) {
        if (r.version > applied.version) return false;
        // The store's clock may be another machine's.
        const int64_t ms = std::max<int64_t>(0, now_unix_ms - r.committed_at_unix_ms);
        applied_.observe(std::chrono::milliseconds(ms));
        return true;
      }));
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
        .gauge("davit_recorder_issues", "Objects that agents hold, parked or found orphaned.",
               {{"region", region}, {"condition", condition}})
        .set(static_cast<double>(count));
  }
}

void AgentMetrics::start() {
  strand_.post([this, ticket = outstanding_.begin()] { sweep(); });
}

void AgentMetrics::stop() {
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
