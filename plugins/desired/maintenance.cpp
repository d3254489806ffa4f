#include "maintenance.hpp"

#include <davit/backoff.hpp>

#include "page_size.hpp"
#include "succession.hpp"

namespace davit::desired {

namespace {
// Limits of one round: it takes some seconds at most, and does not hold up the store's writers.
constexpr int pages_max = 100;
constexpr uint64_t tombstones_max = 20'000;
constexpr size_t agents_max = 1'000;
constexpr std::chrono::milliseconds first_delay{60'000};  // servers that restart often purge, too
constexpr std::chrono::milliseconds round_pause{1000};  // before the next round when there is more
}  // namespace

Maintenance::Maintenance(Host host, storage::Client storage, storage::Election election,
                         Outstanding& outstanding, MaintenanceSettings settings)
    : host_(host),
      storage_(std::move(storage)),
      election_(election),
      outstanding_(outstanding),
      settings_(settings),
      purged_(host.counter("davit_desired_tombstones_purged_total",
                           "Tombstones that this process had the store remove.")),
      mark_(host.gauge("davit_desired_purged_through_version",
                       "The purge mark: tombstones at or below this version are gone.")),
      forgotten_(
          host.counter("davit_desired_agents_forgotten_total",
                       "Agents that were silent for long, with another one in their place.")),
      errors_(host.counter("davit_desired_purge_errors_total",
                           "Rounds of the purge that the store failed.")),
      strand_(host.strand()),
      timer_(strand_) {}

Result<Maintenance::Report> Maintenance::round(const Request& request,
                                               const storage::Client& storage) {
  if (auto over = begin_turn(storage.op())) return *over;
  auto report = look(request, storage);
  {
    const std::lock_guard lock(mutex_);
    in_round_ = false;
  }
  ended_round_.notify_one();
  if (!report.ok() && !storage.op().cancelled()) errors_.add();
  return report;
}

// Why the caller no longer waits for its turn; nothing: its turn has come.
std::optional<Error> Maintenance::begin_turn(const Op& op) {
  constexpr std::chrono::milliseconds look_again{20};
  std::unique_lock lock(mutex_);
  while (in_round_) {
    if (auto over = davit::given_up(op, host_.now())) return over;
    ended_round_.wait_for(lock, look_again);
  }
  in_round_ = true;
  return std::nullopt;
}

Result<Maintenance::Report> Maintenance::look(const Request& request,
                                              const storage::Client& storage) {
  auto head = storage.head();
  if (!head.ok()) return head.error();
  std::vector<Progress> agents;
  auto read = storage.agents({}, [&](const davit_progress& p) {
    agents.push_back(from_abi(p));
    return true;
  });
  if (!read.ok()) return read.error();

  Report out;
  out.purged_through = head->purged_through;
  // The position of an earlier round is void below the mark and in another incarnation.
  const Cursor mark{head->head.incarnation, head->purged_through};
  if (scanned_.incarnation != mark.incarnation || scanned_.version < mark.version) scanned_ = mark;
  Cursor at = request.dry_run && request.from.version > scanned_.version ? request.from : scanned_;

  PurgeLimits limits = settings_.limits;
  if (request.retention) limits.retention = *request.retention;
  Purge purge(limits, agents, host_.unix_ms());
  out.more = true;
  for (int pages = 0; out.more && pages < pages_max && purge.count() < tombstones_max; ++pages) {
    const auto take = [&](const davit_record& r) {
      const bool live = (r.flags & DAVIT_RECORD_LIVE) != 0;
      if (!live && !purge.take(Version(r.version), r.committed_at_unix_ms)) return false;
      at.version = Version(r.version);
      return true;
    };
    auto page = storage.read(
        {.cursor = at, .limit = records_per_page, .bytes_max = bytes_per_page, .no_payload = true},
        take);
    if (!page.ok()) return page.error();
    out.more = page->more && !purge.hold();
    if (!page->more) at.version = page->next_version;
  }
  out.next = at;
  out.count = purge.count();
  out.hold = purge.hold();
  const auto forgotten = out.more ? std::vector<Progress>() : forgettable(agents);
  if (request.dry_run) {
    out.agents_forgotten = forgotten.size();
    out.purged_through = std::max(out.purged_through, purge.through());
    return out;
  }
  auto finished = finish(storage, out, purge.through(), forgotten);
  if (!finished.ok()) return finished.error();
  return out;
}

std::vector<Progress> Maintenance::forgettable(const std::vector<Progress>& agents) const {
  Succession succession;
  for (const auto& p : agents) succession.add(p);
  const int64_t before = host_.unix_ms() - settings_.agent_retention.count();
  std::vector<Progress> out;
  for (const auto& p : agents) {
    if (out.size() < agents_max && succession.forgettable(p, before)) out.push_back(p);
  }
  return out;
}

Result<> Maintenance::finish(const storage::Client& storage, Report& report, Version through,
                             const std::vector<Progress>& forgettable) {
  if (through > report.purged_through) {
    auto r = storage.maintain({true, through});
    if (!r.ok()) return r;
    report.purged_through = through;
    purged_.add(static_cast<double>(report.count));
    host_.info("tombstones purged",
               {{"count", std::to_string(report.count)}, {"through", to_string(through)}});
  }
  mark_.set(static_cast<double>(report.purged_through.value()));
  scanned_ = report.next;
  if (report.more) return {};
  for (const auto& p : forgettable) {
    auto r = storage.maintain({.forget = {p.region, p.agent, p.seen_at_unix_ms}});
    if (!r.ok()) return r;
    ++report.agents_forgotten;
    forgotten_.add();
    host_.info("an agent is forgotten: another has long taken its place",
               {{"region", p.region}, {"agent", p.agent}});
  }
  return storage.maintain({});
}

void Maintenance::start() {
  if (settings_.interval.count() == 0) return;
  strand_.post([this, ticket = outstanding_.begin()] {
    after(jittered(std::min(settings_.interval, first_delay), host_.random()));
  });
}

void Maintenance::stop() {
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

void Maintenance::after(std::chrono::nanoseconds delay) {
  if (!ended_) timer_.after(delay, [this] { begin_round(); });
}

void Maintenance::begin_round() {
  if (!election_.leads()) return after(jittered(settings_.interval, host_.random()));
  storage_.run(
      strand_, [this](const storage::Client& storage) { return round({}, storage); },
      [this, ticket = outstanding_.begin()](const Result<Report>& report) { round_ended(report); });
}

void Maintenance::round_ended(const Result<Report>& report) {
  if (ended_) return;
  if (!report.ok() && failures_++ == 0)
    host_.warn("tombstones cannot be purged", {{"reason", report.error().message}});
  if (report.ok() && std::exchange(failures_, 0) > 0) host_.info("tombstones can be purged again");
  const bool more = report.ok() && report->more;
  after(jittered(more ? round_pause : settings_.interval, host_.random()));
}

}  // namespace davit::desired
