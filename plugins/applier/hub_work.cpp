// Hub: starts trips for slots and takes in what they report.
#include <davit/issues.hpp>

#include "hub.hpp"

namespace davit::applier {
namespace {

// After so many failed trips in a row, people are told.
constexpr uint32_t quiet_failures = 3;

sink::Outcome outcome_of(Report::End end) {
  if (end == Report::End::held) return sink::Outcome::held;
  return end == Report::End::parked ? sink::Outcome::parked : sink::Outcome::done;
}

}  // namespace

void Hub::pump() {
  if (stopping_) return;
  const auto paused_until = limit_.paused_until();
  let_go();
  while (shares_.has_room(limit_.value(), now()) && now() >= paused_until) {
    const auto number = queue_.take(now());
    if (!number) break;
    KindState& kind = kind_of(*number);
    Slot* slot = kind.desired.find(*number);
    if (slot == nullptr || slot->wish == Wish::unknown || slot->wish == Wish::orphan) {
      queue_.put_aside(*number);
    } else if (!may_start(kind, *slot)) {
      queue_.put_aside(*number);
      kind.unseen.insert(*number);
      say_delayed(kind, *slot);
    } else if (const auto group = group_of(kind, *slot);
               shares_.room(group, limit_.value(), now()) == 0) {
      hold_back(group, *slot);
    } else {
      launch(kind, *slot);
    }
  }
  size_t held_back = 0;
  for (const auto& [group, waiting] : held_back_) held_back += waiting.size();
  waiting_.set(static_cast<double>(queue_.waiting() + held_back));
  const auto due = next_pump();
  if (!due) {
    pump_timer_.cancel();
  } else if (!pump_timer_.waiting() || pump_at_ != *due) {
    pump_at_ = *due;
    pump_timer_.after(std::max(*due - now(), std::chrono::nanoseconds(0)), [this] { pump(); });
  }
}

// nullopt: not before a trip ends or something is added.
std::optional<std::chrono::nanoseconds> Hub::next_pump() const {
  auto due = queue_.next_due();
  if (!due && held_back_.empty()) return due;
  if (due) due = std::max(*due, limit_.paused_until());
  const bool room = shares_.has_room(limit_.value(), now());
  const auto slow = shares_.next_slow(now());
  if (slow.count() == 0) return room ? due : std::nullopt;
  if (due && !room) due = std::max(*due, slow);
  // A trip that becomes slow leaves its room to other groups, which may have slots held back.
  if (!held_back_.empty()) due = std::min(due.value_or(slow), slow);
  return due;
}

Shares::Group Hub::group_of(const KindState& kind, const Slot& slot) {
  return kind.name() + " " + slot.ns;
}

// The slot waits until its group has room; slots of other groups pass it. What comes for it
// meanwhile may be more urgent than what it waits for.
void Hub::hold_back(const Shares::Group& group, Slot& slot) {
  const Band band = queue_.put_aside(slot.number);
  if (!slot.held_back) held_back_[group].push_back(slot.number);
  slot.held_back = std::min(band, slot.held_back.value_or(band));
}

void Hub::let_go() {
  for (auto it = held_back_.begin(); it != held_back_.end();) {
    auto& waiting = it->second;
    for (size_t room = shares_.room(it->first, limit_.value(), now()); room > 0 && !waiting.empty();
         waiting.pop_front()) {
      const uint64_t number = waiting.front();
      Slot* slot = kind_of(number).desired.find(number);
      if (slot == nullptr || !slot->held_back) continue;
      queue_.add(number, *std::exchange(slot->held_back, std::nullopt), now());
      --room;
    }
    it = waiting.empty() ? held_back_.erase(it) : std::next(it);
  }
}

// A delete waits until all watches can be trusted. An apply waits for that only until
// `patient_until_`.
bool Hub::may_start(KindState& kind, const Slot& slot) const {
  if (kind.complete() || slot.wish == Wish::hold) return true;
  return slot.wish == Wish::apply && now() >= patient_until_;
}

void Hub::launch(KindState& kind, Slot& slot) {
  ++working_;
  slot.out = true;
  slot.held_back.reset();
  shares_.began(group_of(kind, slot), slot.number, now());
  end_park_on_change(kind, slot);
  slot.repairs.forget(shop_->rules.repairs, now());
  trips_.add();
  auto trip = std::make_shared<Trip>(
      shop_, task_for(kind, slot), [this, under_way = queue_.out()](Report report) {
        strand_.post([this, under_way, report = std::move(report)]() mutable {
          on_report(under_way, std::move(report));
        });
      });
  trip->start();
}

Task Hub::task_for(KindState& kind, const Slot& slot) const {
  Task task;
  task.kind = &kind.client;
  task.schema = kind.schema;
  task.coverage = kind.coverage();
  task.slot = slot.number;
  task.version = slot.version;
  task.wish = slot.wish;
  task.incarnation = slot.incarnation;
  task.stream = kind.desired.incarnation();
  task.fence = std::max(slot.version, slot.pruned_at);
  task.history = kind.history;
  task.strangers = kind.strangers.known();
  task.key = {kind.name(), region_, slot.id};
  task.ns = slot.ns;
  task.name = slot.name;
  task.state = slot.record_state;
  task.annotations = slot.annotations;
  task.payload = slot.payload;
  task.runs = slot.runs;
  task.look_only = slot.state == Slot::State::parked && now() < slot.parked_until;
  task.applied = slot.applied;
  task.repairs = slot.repairs;
  const bool taken = kind.taken_by_others(slot);
  for (const ObservedObject* o : slot.objects) {
    const bool owned = kind.owned(*o);
    task.known[*o->path] = {o->text, o->resource_version, !o->foreign && (owned || !taken), owned};
  }
  for (const auto& [path, applied] : slot.applied) {
    if (task.known.contains(path)) continue;
    if (const auto* o = kind.observed.find(path))
      task.known[path] = {o->text, o->resource_version, false, false};
  }
  return task;
}

void Hub::on_report(size_t under_way, Report report) {
  --working_;
  learn(report, shares_.ended(report.slot), under_way);
  // A request that stop has cancelled says nothing of the record.
  if (stopping_ && report.end == Report::End::retry) return check_stopped();
  KindState& kind = kind_of(report.slot);
  Slot* slot = kind.desired.find(report.slot);
  if (slot == nullptr) {
    queue_.put_aside(report.slot);
    queue_.forget(report.slot);
  } else {
    conclude(kind, *slot, report);
  }
  if (stopping_) {
    check_stopped();
  } else {
    pump();
  }
}

// `under_way`: trips that were out when this one began. Others may have begun or ended since.
void Hub::learn(const Report& report, const Shares::Group& group, size_t under_way) {
  for (const Answer& a : report.answers) {
    if (a.overloaded) {
      throttled_.add();
      // Otherwise the record's own back-off is enough.
      if (shares_.refused(group, a.of_webhook, a.sent, now()))
        limit_.overloaded(a.sent, a.retry_after, now());
      continue;
    }
    shares_.answered(group, now());
    limit_.answered(a.like, a.took, std::max(under_way, queue_.out()), now());
  }
  concurrency_.set(static_cast<double>(limit_.value()));
  shop_->paused_until = limit_.paused_until().count();
}

void Hub::conclude(KindState& kind, Slot& slot, Report& report) {
  slot.out = false;
  take_over(kind, slot, report);
  judge_refusal(slot, report);
  // Whether nothing newer has come since. The incarnation counts, too: a restored store may give
  // the same version to another change.
  const bool current = slot.version == report.version && slot.incarnation == report.incarnation &&
                       slot.wish == report.wish;
  const auto rest = rest_after(kind, slot, report);
  if (current && report.end != Report::End::retry && report.end != Report::End::looked) {
    slot.state = Slot::State::settled;
    slot.parked.clear();
    if (report.end == Report::End::done) {
      slot.applied_at = {report.incarnation, report.version};
      if (slot.wish == Wish::apply) slot.runs = slot.payload;
    }
    if (report.end == Report::End::parked) {
      park(slot, report);
    } else {
      slot.park_backoff.reset();
    }
    settle(kind, slot, outcome_of(report.end));
  }
  // A right may have been taken away. The API server can say which one.
  if (current && report.right_refused && slot.refused_since.count() == 0 && kind.missing.empty())
    review_soon();
  if (current) note_refusal(slot, report);
  count_parked(slot);
  const bool gone = report.status && report.status->gone;
  if (current) tell(kind, slot, report);
  if (report.end == Report::End::retry) {
    queue_.retry(slot.number, now() + rest);
  } else {
    queue_.done(slot.number, now() + rest);
  }
  if (slot.state == Slot::State::parked && slot.parked_until > now())
    queue_.add(slot.number, Band::resync, next_look(slot));
  // The tables now show what this trip wrote. One more trip derives the status from it.
  if (!report.written.empty()) queue_.add(slot.number, Band::repair, now());
  if (report.look_again.count() > 0)
    queue_.add(slot.number, Band::repair, now() + report.look_again);
  if (current && report.end == Report::End::done && slot.wish == Wish::apply && report.seen)
    report_gone(kind, kind.departures.replaced(slot, kind.desired));
  if (current && report.end == Report::End::done && slot.wish == Wish::remove &&
      slot.objects.empty()) {
    if (gone && !slot.untold) {
      kind.departures.reported(
          {slot.id, slot.ns, slot.name, std::max(slot.version, slot.pruned_at)});
      erase(kind, slot);
    } else {
      // This trip deleted the last object: one more trip reports that.
      queue_.add(slot.number, Band::repair, now());
    }
  }
}

// How long the record rests after its trip. Also logs when the record begins to keep failing, and
// when that ends.
std::chrono::nanoseconds Hub::rest_after(const KindState& kind, Slot& slot, const Report& report) {
  const std::string object = slot.ns + "/" + slot.name;
  if (report.end != Report::End::retry) {
    if (slot.backoff.failures() >= quiet_failures) {
      host_.info("no longer failing", {{"kind", kind.name()},
                                       {"object", object},
                                       {"failures", std::to_string(slot.backoff.failures())}});
    }
    slot.backoff.reset();
    return shop_->rules.rest;
  }
  if (slot.backoff.failures() == 0) slot.backoff = Backoff(shop_->rules.retry);
  std::chrono::nanoseconds rest = slot.backoff.next(host_.random(), report.retry_after);
  if (report.right_refused && slot.refused_since.count() > 0)
    rest = std::min(rest, slot.refused_since + shop_->rules.right_patience - now());
  retries_.add();
  if (slot.backoff.failures() == quiet_failures) {
    host_.warn("keeps failing",
               {{"kind", kind.name()}, {"object", object}, {"reason", report.why}});
  }
  return rest;
}

void Hub::take_over(KindState& kind, Slot& slot, const Report& report) {
  slot.unplaced = report.unplaced;
  if (slot.unplaced != 0) kind.strangers.seen(slot.unplaced, now());
  slot.applied = report.applied;
  for (const Repair& r : report.repaired)
    slot.repairs.note(r, shop_->rules.repairs, now(), host_.random());
  for (const auto& w : report.written) {
    if (w.text == nullptr) {
      kind.observed.remove(w.path, w.resource_version);
    } else {
      kind.observed.put_written(w.watch, w.path, w.text, w.resource_version,
                                w.attributed ? &slot : nullptr);
    }
  }
}

void Hub::tell(KindState& kind, Slot& slot, Report& report) {
  const bool failing =
      report.end == Report::End::retry && slot.backoff.failures() >= quiet_failures;
  if (slot.state == Slot::State::parked) {
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_PARKED, slot.parked);
  } else if (report.end == Report::End::held) {
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_HELD, std::string(slot.payload.view()));
    return;  // a held record's status is not ours to report
  } else if (failing && report.delayed) {
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_DELAYED, report.why);
  } else if (!report.delayed) {
    const std::string contested = slot.repairs.contested(shop_->rules.repairs);
    telling_->issue(kind.name(), slot, contested.empty() ? "" : issues::contested, contested);
  }
  // Statuses are by id. A record that lives under another name is not gone because the objects of
  // this name go.
  if (slot.wish == Wish::remove && kind.desired.lives(slot.id)) {
    slot.untold = false;  // nothing is to be said of it any more
    return;
  }
  if (report.end == Report::End::retry && !failing) return;  // nothing new is known yet
  if (!report.status) return;
  // No status is reported from a watch that cannot be trusted.
  slot.untold = !report.seen || !kind.sees(report.relies_on);
  if (slot.untold) {
    // The watches have become complete since the trip began.
    if (kind.sees(report.relies_on)) queue_.add(slot.number, Band::repair, now());
    return;
  }
  Status status = std::move(*report.status);
  // A record is reported as gone when nothing is left to do, not when the last delete was only
  // requested.
  if (status.gone && (slot.wish != Wish::remove || report.end != Report::End::done))
    status.gone = false;
  if (failing) status.message = "retrying: " + report.why;
  telling_->status(kind.name(), slot, std::move(status));
}

void Hub::resync() {
  for (auto& kind : kinds_) {
    // Judges what has arrived since the last snapshot, nobody names, and judge_arrivals left: a
    // restored backup of the cluster, for example.
    if (kind->complete()) {
      if (const auto found = kind->departures.judge_again(kind->desired, shop_->rules.prune))
        judged(*kind, *found);
    }
    count_orphans(*kind);
    kind->desired.each([&](Slot& slot) {
      if (slot.wish == Wish::apply || slot.wish == Wish::remove || slot.wish == Wish::hold)
        queue_.add(slot.number, Band::resync, now());
    });
  }
  resync_timer_.after(shop_->rules.resync_interval, [this] { resync(); });
  pump();
}

}  // namespace davit::applier
