// Hub: starts reconciliations for slots and takes in what they report.
#include <davit/issues.hpp>

#include "hub.hpp"

namespace davit::applier {
namespace {

// After so many failed reconciliations in a row, people are told.
constexpr uint32_t quiet_failures = 3;

sink::Outcome outcome_of(Report::End end) {
  if (end == Report::End::held) return sink::Outcome::held;
  return end == Report::End::parked ? sink::Outcome::parked : sink::Outcome::done;
}

// A delete waits until all watches can be trusted. An apply waits for that only for a while.
bool may_start(Wish wish, bool complete, bool patience_is_over) {
  if (complete || wish == Wish::hold) return true;
  return wish == Wish::apply && patience_is_over;
}

// A fingerprint of what people and agents have set in the record's objects. A reconciliation
// computes the same of its copies.
uint64_t grounds_of(const KindState& kind, const Slot& slot) {
  uint64_t out = 0;
  for (const ObservedObject* o : slot.objects) {
    if (kind.owned(*o)) out += fingerprint_of_wishes(*o->text);
  }
  return out;
}

// Copies of all that a reconciliation needs of the tables.
Task task_for(const KindState& kind, const Slot& slot, const std::string& region, Queue::Time now) {
  Task task;
  task.kind = &kind.client;
  task.schema = kind.schema;
  task.coverage = kind.views.coverage();
  task.slot = slot.number;
  task.version = slot.version;
  task.wish = slot.wish;
  task.incarnation = slot.incarnation;
  task.stream = kind.desired.incarnation();
  task.fence = std::max(slot.version, slot.pruned_at);
  task.history = kind.history;
  task.strangers = kind.strangers.known();
  task.key = {kind.name(), region, slot.id};
  task.ns = slot.ns;
  task.name = slot.name;
  task.state = slot.record_state;
  task.annotations = slot.annotations;
  task.payload = slot.payload;
  task.runs = slot.runs;
  task.look_only = slot.state == Slot::State::parked && slot.parking.holds(now);
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

}  // namespace

void Hub::pump() {
  if (stopping_) return;
  workers_.readmit(now());
  while (const auto number = workers_.take(now())) {
    KindState& kind = kind_of(*number);
    Slot* slot = kind.desired.find(*number);
    if (slot == nullptr || slot->wish == Wish::unknown || slot->wish == Wish::orphan) {
      workers_.put_aside(*number);
    } else if (!may_start(slot->wish, kind.complete(), now() >= patient_until_)) {
      workers_.put_aside(*number);
      kind.unseen.insert(*number);
      say_delayed(kind, *slot);
    } else if (workers_.begin(*number, kind.name() + " " + slot->ns, now())) {
      launch(kind, *slot);
    }
  }
  waiting_.set(static_cast<double>(workers_.waiting()));
  const auto due = workers_.next_due(now());
  if (!due) {
    pump_timer_.cancel();
  } else if (!pump_timer_.waiting() || pump_at_ != *due) {
    pump_at_ = *due;
    pump_timer_.after(std::max(*due - now(), std::chrono::nanoseconds(0)), [this] { pump(); });
  }
}

void Hub::launch(KindState& kind, Slot& slot) {
  ++working_;
  slot.out = true;
  // Somebody may have changed one of the record's objects, perhaps the one that it is parked for.
  if (slot.state == Slot::State::parked && slot.parking.heeds_changes(now()))
    slot.parking.objects_are(grounds_of(kind, slot), now());
  slot.repairs.forget(context_->rules.repairs, now());
  reconciliations_.add();
  auto one = std::make_shared<Reconciliation>(
      context_, task_for(kind, slot, region_, now()),
      [this, under_way = workers_.out()](Report report) {
        strand_.post([this, under_way, report = std::move(report)]() mutable {
          on_report(under_way, std::move(report));
        });
      });
  one->start();
}

void Hub::on_report(size_t under_way, Report report) {
  --working_;
  for (size_t n = workers_.end(report.slot, report.answers, under_way, now()); n > 0; --n)
    throttled_.add();
  concurrency_.set(static_cast<double>(workers_.limit()));
  context_->paused_until = workers_.paused_until().count();
  // A request that stop has cancelled says nothing of the record.
  if (stopping_ && report.end == Report::End::retry) return check_stopped();
  KindState& kind = kind_of(report.slot);
  Slot* slot = kind.desired.find(report.slot);
  if (slot == nullptr) {
    workers_.put_aside(report.slot);
    workers_.forget(report.slot);
  } else {
    conclude(kind, *slot, report);
  }
  if (stopping_) {
    check_stopped();
  } else {
    pump();
  }
}

void Hub::conclude(KindState& kind, Slot& slot, Report& report) {
  slot.out = false;
  take_over(kind, slot, report);
  const bool parked = slot.state == Slot::State::parked;
  if (report.end == Report::End::retry && report.right_refused &&
      slot.parking.refusal_parks(parked, context_->rules.parking, now()))
    report.end = Report::End::parked;
  // Whether nothing newer has come since. The incarnation counts, too: a restored store may give
  // the same version to another change.
  const bool current = slot.version == report.version && slot.incarnation == report.incarnation &&
                       slot.wish == report.wish;
  const auto rest = rest_after(kind, slot, report);
  const bool gone = report.status && report.status->gone;
  if (current) conclude_current(kind, slot, report);
  count_parked(slot);
  if (current) tell(kind, slot, report);
  if (report.end == Report::End::retry) {
    workers_.retry(slot.number, now() + rest);
  } else {
    workers_.done(slot.number, now() + rest);
  }
  if (slot.state == Slot::State::parked && slot.parking.holds(now()))
    workers_.add(slot.number, Band::resync, slot.parking.next_look(now()));
  // The tables now show what this reconciliation wrote. One more reconciliation derives the status
  // from it.
  if (!report.written.empty()) workers_.add(slot.number, Band::repair, now());
  if (report.look_again.count() > 0)
    workers_.add(slot.number, Band::repair, now() + report.look_again);
  if (!current || report.end != Report::End::done) return;
  if (slot.wish == Wish::apply && report.seen)
    report_gone(kind, kind.departures.replaced(slot, kind.desired));
  if (slot.wish != Wish::remove || !slot.objects.empty()) return;
  if (gone && !slot.untold) {
    kind.departures.reported({slot.id, slot.ns, slot.name, std::max(slot.version, slot.pruned_at)});
    erase(kind, slot);
  } else {
    // This reconciliation deleted the last object: one more reconciliation reports that.
    workers_.add(slot.number, Band::repair, now());
  }
}

// The reconciliation was made for what is still wanted.
void Hub::conclude_current(KindState& kind, Slot& slot, Report& report) {
  // A right may have been taken away. The API server can say which one.
  if (report.right_refused && !slot.parking.right_refused() && kind.missing.empty()) review_.soon();
  if (report.end != Report::End::looked) slot.parking.note_right(report.right_refused, now());
  if (report.end == Report::End::retry || report.end == Report::End::looked) return;
  slot.state = Slot::State::settled;
  if (report.end == Report::End::parked) {
    slot.state = Slot::State::parked;
    slot.parking.begin(report.why, report.parked_on, report.grounds, context_->rules.parking, now(),
                       host_.random());
  } else {
    slot.parking.end();
  }
  if (report.end == Report::End::done) {
    slot.applied_at = {report.incarnation, report.version};
    if (slot.wish == Wish::apply) slot.runs = slot.payload;
  }
  settle(kind, slot, outcome_of(report.end));
}

void Hub::count_parked(const Slot& slot) {
  if (slot.state == Slot::State::parked) {
    parked_.insert(slot.number);
  } else {
    parked_.erase(slot.number);
  }
  parked_gauge_.set(static_cast<double>(parked_.size()));
}

// How long the record rests after its reconciliation. Also logs when the record begins to keep
// failing, and when that ends.
std::chrono::nanoseconds Hub::rest_after(const KindState& kind, Slot& slot, const Report& report) {
  const std::string object = slot.ns + "/" + slot.name;
  if (report.end != Report::End::retry) {
    if (slot.backoff.failures() >= quiet_failures) {
      host_.info("no longer failing", {{"kind", kind.name()},
                                       {"object", object},
                                       {"failures", std::to_string(slot.backoff.failures())}});
    }
    slot.backoff.reset();
    return context_->rules.rest;
  }
  if (slot.backoff.failures() == 0) slot.backoff = Backoff(context_->rules.retry);
  std::chrono::nanoseconds rest = slot.backoff.next(host_.random(), report.retry_after);
  if (report.right_refused && slot.parking.right_refused())
    rest = std::min(rest, slot.parking.patience_ends(context_->rules.parking) - now());
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
    slot.repairs.note(r, context_->rules.repairs, now(), host_.random());
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
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_PARKED, slot.parking.reason());
  } else if (report.end == Report::End::held) {
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_HELD, std::string(slot.payload.view()));
    return;  // a held record's status is not ours to report
  } else if (failing && report.delayed) {
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_DELAYED, report.why);
  } else if (!report.delayed) {
    const std::string contested = slot.repairs.contested(context_->rules.repairs);
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
  slot.untold = !report.seen || !kind.views.sees(report.relies_on);
  if (slot.untold) {
    // The watches have become complete since the reconciliation began.
    if (kind.views.sees(report.relies_on)) workers_.add(slot.number, Band::repair, now());
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
      if (const auto found = kind->departures.judge_again(kind->desired, context_->rules.prune))
        judged(*kind, *found);
    }
    count_orphans(*kind);
    kind->desired.each([&](Slot& slot) {
      if (slot.wish == Wish::apply || slot.wish == Wish::remove || slot.wish == Wish::hold)
        workers_.add(slot.number, Band::resync, now());
    });
  }
  resync_timer_.after(context_->rules.resync_interval, [this] { resync(); });
  pump();
}

}  // namespace davit::applier
