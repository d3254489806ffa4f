#include "shared.hpp"

namespace davit::recorder {
namespace {

constexpr std::chrono::seconds agents_age_max{1};

}  // namespace

Shared::Shared(Host h, storage::Client s, std::chrono::milliseconds agents_stale_after,
               const Limits& l)
    : host(h),
      storage(s.under(operations.begin())),
      limits(l),
      turns(h, outstanding, limits.turns,
            host.histogram("davit_recorder_pace_wait_seconds",
                           "How long regions beyond their pace (bytes_per_second_per_region_max) "
                           "waited until their next call could begin.")),
      kind_turns(h, outstanding, {limits.turns.working_bytes, limits.turns.waiting_bytes, no_pace}),
      agents(h, storage, outstanding, agents_stale_after, limits),
      statuses(host.counter("davit_recorder_statuses_total", "Statuses handed to the store.")),
      refused(host.counter("davit_recorder_refused_total", "Statuses that were refused.")),
      errors(
          host.counter("davit_recorder_storage_errors_total", "Calls of the store that failed.")),
      scan_(host, storage, outstanding,
            {[this](Epoch epoch) {
               return plausible_epoch(epoch, host.unix_ms(), limits.epoch_ahead);
             },
             [this](const StatusScan::Greatest& greatest) {
               const std::lock_guard lock(epochs_mutex_);
               for (const auto& [region, epoch] : greatest) epochs_.reported(region, epoch);
             }}),
      roster_(limits) {}

void Shared::start() {
  agents.start();
  scan_.after([](const Result<>&) {});
}

void Shared::stop() {
  turns.stop();
  kind_turns.stop();
  scan_.stop();
  agents.stop();
  operations.cancel();
}

uint64_t Shared::next_sequence() {
  const auto now = static_cast<uint64_t>(host.unix_ms()) * 1000;
  uint64_t last = sequence_.load();
  uint64_t next = 0;
  do {
    next = std::max(last + 1, now);
  } while (!sequence_.compare_exchange_weak(last, next));
  return next;
}

void Shared::knowing_epochs(StatusScan::Then then) {
  scan_.after([this, then = std::move(then), ticket = outstanding.begin()](const Result<>& r) {
    host.blocking(storage.instance(), [this, then, r, ticket] {
      bool known = false;
      {
        const std::lock_guard lock(mutex_);
        known = agents_read_at_.has_value();
      }
      if (known || !r.ok()) return then(r);
      // Without the agents' epochs those of the statuses have to do.
      knowing_agents([this, then, ticket](const Result<>& read) {
        if (!read.ok()) errors.add();
        then({});
      });
    });
  });
}

Epoch Shared::epoch_above(const std::string& region) {
  const std::lock_guard lock(epochs_mutex_);
  return epochs_.above(region);
}

void Shared::reported(const std::string& region, Epoch epoch) {
  const std::lock_guard lock(epochs_mutex_);
  if (epochs_.has(region)) epochs_.reported(region, epoch);
}

void Shared::failed(const Error& error) const {
  if (error.code != Code::cancelled && error.code != Code::deadline_exceeded) errors.add();
}

void Shared::progress(const Operation& caller, const Progress& said, const Answer& answer,
                      const rpc::Server::Reply& reply) {
  if (const auto known = epoch_of_late(said)) return reply(answer(*known));
  if (!is_new(said)) return keep(caller, said, answer, reply);
  knowing_agents([this, caller, said, answer, reply](const Result<>& read) {
    if (read.ok()) return keep(caller, said, answer, reply);
    failed(read.error());
    reply(read.error());
  });
}

void Shared::keep(const Operation& caller, const Progress& said, const Answer& answer,
                  const rpc::Server::Reply& reply) {
  // The stored progress replaces the agent's last one, and is all that a later process of the
  // server knows. So the epoch that the agent will rise to is stored before the agent hears of it.
  // Then no other process gets the same one.
  const auto taken = introduce(said);
  Progress kept = said;
  if (taken.ok() && *taken) kept.epoch = taken->next();
  auto stored = taken.ok() ? storage.under(caller).progress(kept) : Result<>(taken.error());
  if (!stored.ok()) {
    if (stored.error().code != Code::failed_precondition) failed(stored.error());
    return reply(stored.error());
  }
  reply(answer(*taken));
  agents.heard(said);
}

// A late request replaces nothing. An agent whose clock was set back looks late, too: it is told of
// the greater epoch, and comes back with one above it.
std::optional<Epoch> Shared::epoch_of_late(const Progress& said) {
  const std::lock_guard lock(mutex_);
  if (!roster_.is_late(said)) return std::nullopt;
  const std::lock_guard epochs_lock(epochs_mutex_);
  return epochs_.taken(said);
}

bool Shared::is_new(const Progress& said) {
  const std::lock_guard lock(mutex_);
  const bool fresh = agents_read_at_ && host.now() - *agents_read_at_ <= agents_age_max;
  return !fresh && !(roster_.has(said) && epoch_known(said));
}

Result<Epoch> Shared::introduce(const Progress& said) {
  if (auto r = make_room(said); !r.ok()) return r.error();
  if (!said.epoch) return Epoch();  // a ctrl.v1 peer has no epoch
  const std::lock_guard epochs_lock(epochs_mutex_);
  const Epoch taken = epochs_.taken(said);
  if (taken) {
    epochs_.told(said, taken);
  } else {
    epochs_.heard(said);
  }
  return taken;
}

bool Shared::epoch_known(const Progress& said) {
  if (!said.epoch) return true;
  const std::lock_guard lock(epochs_mutex_);
  return epochs_.known(said);
}

void Shared::knowing_agents(StatusScan::Then then) {
  {
    const std::lock_guard lock(mutex_);
    if (reading_agents_) return wait_for_agents_.push_back(std::move(then));
    reading_agents_ = true;
    agents_read_at_.reset();  // until all are read
  }
  const Result<> read = read_agents();
  std::vector<StatusScan::Then> waiting;
  {
    const std::lock_guard lock(mutex_);
    reading_agents_ = false;
    waiting.swap(wait_for_agents_);
  }
  for (auto& one : waiting) {
    host.blocking(storage.instance(),
                  [read, one = std::move(one), ticket = outstanding.begin()] { one(read); });
  }
  then(read);
}

Result<> Shared::read_agents() {
  const auto now = host.now();
  std::vector<Progress> stored_agents, implausible;
  auto r = storage.agents({}, [&](const davit_progress& p) {
    const Progress stored = from_abi(p);
    stored_agents.push_back({stored.region, stored.agent, {}, {}, {}, {}, stored.seen_at_unix_ms});
    if (plausible_epoch(stored.epoch, host.unix_ms(), limits.epoch_ahead)) {
      const std::lock_guard lock(epochs_mutex_);
      epochs_.heard(stored);
    } else {
      implausible.push_back(stored);
    }
    return true;
  });
  if (!r.ok()) return r;
  // Such an epoch was stored by an older server or under another clock. Its agent would pass for
  // the successor of all others.
  for (Progress& stored : implausible) {
    host.warn("an agent's stored epoch is far ahead of this server's time; it is forgotten",
              {{"region", stored.region}, {"agent", stored.agent}});
    stored.epoch = {};
    if (auto healed = storage.progress(stored); !healed.ok()) return healed;
  }
  const std::lock_guard lock(mutex_);
  roster_.replace(stored_agents);
  agents_read_at_ = now;
  return {};
}

// The place is the newcomer's before the store forgets who had it, so that no other newcomer gets
// it, too.
Result<> Shared::make_room(const Progress& said) {
  std::optional<Roster::Seat> taken;
  {
    const std::lock_guard lock(mutex_);
    if (!roster_.has(said)) {
      auto place = roster_.place_of(said);
      if (!place.ok()) return place.error();
      if (*place) roster_.gone(**place);
      taken = std::move(*place);
    }
    roster_.heard(said);
  }
  if (!taken) return {};
  const Roster::Seat& seat = *taken;
  auto r = storage.maintain({.forget = {seat.region, seat.agent, seat.seen_at_unix_ms}});
  if (!r.ok()) {
    const std::lock_guard lock(mutex_);
    agents_read_at_.reset();  // who has a place is read again
    return r;
  }
  host.info("a silent agent is forgotten: its region has no place for a new one",
            {{"region", seat.region}, {"agent", seat.agent}, {"new", said.agent}});
  return {};
}

}  // namespace davit::recorder
