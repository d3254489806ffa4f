// Hub: starts reconciliations for entries and takes in what they report.
#include "hub.hpp"
#include "publication.hpp"

namespace davit::applier {
namespace {

// After so many failed reconciliations in a row, people are told.
constexpr uint32_t quiet_failures = 3;

sink::Outcome outcome_of(Report::End end) {
  if (end == Report::End::held) return sink::Outcome::held;
  return end == Report::End::parked ? sink::Outcome::parked : sink::Outcome::done;
}

// A delete waits until all watches can be trusted. An apply waits for that only for a while.
bool may_start(Intent intent, bool complete, bool patience_is_over) {
  if (complete || intent == Intent::hold) return true;
  return intent == Intent::apply && patience_is_over;
}

// A fingerprint of what people and agents have set in the record's objects. A reconciliation
// computes the same of its copies.
uint64_t grounds_of(const KindState& kind, const RecordEntry& entry) {
  uint64_t out = 0;
  for (const ObservedObject* o : entry.objects) {
    if (kind.owned(*o)) out += fingerprint_without_status(*o->text);
  }
  return out;
}

// Copies of all that a reconciliation needs of the tables.
Task task_for(const KindState& kind, const RecordEntry& entry, const std::string& region,
              Workers::Time now) {
  Task task;
  task.kind = &kind.client;
  task.schema = kind.schema;
  task.coverage = kind.views.coverage();
  task.entry = entry.number;
  task.version = entry.version;
  task.intent = entry.intent;
  task.incarnation = entry.incarnation;
  task.stream = kind.desired.incarnation();
  task.fence = std::max(entry.version, entry.pruned_at);
  task.history = kind.history;
  task.foreign_incarnations = kind.foreign_incarnations.known();
  task.key = {kind.name(), region, entry.id};
  task.ns = entry.ns;
  task.name = entry.name;
  task.state = entry.record_state;
  task.annotations = entry.annotations;
  task.payload = entry.payload;
  task.runs = entry.runs;
  task.pruned = entry.intent == Intent::remove && entry.pruned_at;
  task.look_only = entry.state == RecordEntry::State::parked && entry.parking.holds(now);
  task.applied = entry.applied;
  task.repairs = entry.repairs;
  const bool taken = kind.taken_by_others(entry);
  for (const ObservedObject* o : entry.objects) {
    const bool owned = kind.owned(*o);
    task.known[*o->path] = {o->text, o->resource_version, !o->foreign && (owned || !taken), owned};
  }
  for (const auto& [path, applied] : entry.applied) {
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
    RecordEntry* entry = kind.desired.find(*number);
    if (entry == nullptr || entry->intent == Intent::unknown || entry->intent == Intent::orphan) {
      workers_.put_aside(*number);
    } else if (!may_start(entry->intent, kind.complete(), now() >= patient_until_)) {
      workers_.put_aside(*number);
      kind.unseen.insert(*number);
      say_delayed(kind, *entry);
    } else if (workers_.begin(*number, kind.name() + " " + entry->ns, now())) {
      launch(kind, *entry);
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

void Hub::launch(KindState& kind, RecordEntry& entry) {
  ++working_;
  entry.out = true;
  // Somebody may have changed one of the record's objects, perhaps the one that it is parked for.
  if (entry.state == RecordEntry::State::parked && entry.parking.heeds_changes(now()))
    entry.parking.objects_are(grounds_of(kind, entry), now());
  entry.repairs.forget(context_->rules.repairs, now());
  reconciliations_.add();
  auto one = std::make_shared<Reconciliation>(
      context_, task_for(kind, entry, region_, now()),
      [this, under_way = workers_.out()](Report report) {
        strand_.post([this, under_way, report = std::move(report)]() mutable {
          on_report(under_way, std::move(report));
        });
      });
  one->start();
}

void Hub::on_report(size_t under_way, Report report) {
  --working_;
  for (size_t n = workers_.end(report.entry, report.answers, under_way, now()); n > 0; --n)
    throttled_.add();
  concurrency_.set(static_cast<double>(workers_.limit()));
  context_->paused_until = workers_.paused_until().count();
  // A request that stop has cancelled says nothing of the record.
  if (stopping_ && report.end == Report::End::retry) return check_stopped();
  KindState& kind = kind_of(report.entry);
  RecordEntry* entry = kind.desired.find(report.entry);
  if (entry == nullptr) {
    workers_.put_aside(report.entry);
    workers_.forget(report.entry);
  } else {
    conclude(kind, *entry, report);
  }
  if (stopping_) {
    check_stopped();
  } else {
    pump();
  }
}

void Hub::conclude(KindState& kind, RecordEntry& entry, Report& report) {
  entry.out = false;
  take_over(kind, entry, report);
  for (Event& event : report.events) events_.say(std::move(event));
  const bool parked = entry.state == RecordEntry::State::parked;
  if (report.end == Report::End::retry && report.right_refused &&
      entry.parking.refusal_parks(parked, context_->rules.parking, now()))
    report.end = Report::End::parked;
  // Whether nothing newer has come since. The incarnation counts, too: a restored store may give
  // the same version to another change.
  const bool current = entry.version == report.version && entry.incarnation == report.incarnation &&
                       entry.intent == report.intent;
  const auto rest = rest_after(kind, entry, report);
  const bool gone = report.status && report.status->gone;
  if (current) conclude_current(kind, entry, report);
  count_parked(entry);
  if (current) publish(kind, entry, report);
  if (report.end == Report::End::retry) {
    workers_.retry(entry.number, now() + rest);
  } else {
    workers_.done(entry.number, now() + rest);
  }
  if (entry.state == RecordEntry::State::parked && entry.parking.holds(now()))
    workers_.add(entry.number, Priority::resync, entry.parking.next_look(now()));
  // The tables now show what this reconciliation wrote. One more reconciliation derives the status
  // from it.
  if (!report.written.empty()) workers_.add(entry.number, Priority::repair, now());
  if (report.look_again.count() > 0)
    workers_.add(entry.number, Priority::repair, now() + report.look_again);
  if (!current || report.end != Report::End::done) return;
  if (entry.intent == Intent::apply && report.seen)
    report_gone(kind, kind.departures.replaced(entry, kind.desired));
  if (entry.intent != Intent::remove || !entry.objects.empty()) return;
  if (gone && !entry.withheld) {
    kind.departures.reported(
        {entry.id, entry.ns, entry.name, std::max(entry.version, entry.pruned_at)});
    erase(kind, entry);
  } else {
    // This reconciliation deleted the last object: one more reconciliation reports that.
    workers_.add(entry.number, Priority::repair, now());
  }
}

// The reconciliation was made for what is still wanted.
void Hub::conclude_current(KindState& kind, RecordEntry& entry, Report& report) {
  // A right may have been taken away. The API server can say which one.
  if (report.right_refused && !entry.parking.right_refused() && kind.missing.empty())
    review_.soon();
  if (report.end != Report::End::looked) entry.parking.note_right(report.right_refused, now());
  if (report.end == Report::End::retry || report.end == Report::End::looked) return;
  entry.state = RecordEntry::State::settled;
  if (report.end == Report::End::parked) {
    entry.state = RecordEntry::State::parked;
    entry.parking.begin(report.why, report.parked_on, report.grounds, context_->rules.parking,
                        now(), host_.random());
    events_.say(
        {report.subject, true, "Parked",
         kind.name() + " " + entry.ns + "/" + entry.name + " cannot be applied: " + report.why});
  } else {
    entry.parking.end();
  }
  if (report.end == Report::End::done) {
    entry.applied_at = {report.incarnation, report.version};
    if (entry.intent == Intent::apply) entry.runs = entry.payload;
  }
  settle(kind, entry, outcome_of(report.end));
}

void Hub::count_parked(const RecordEntry& entry) {
  if (entry.state == RecordEntry::State::parked) {
    parked_.insert(entry.number);
  } else {
    parked_.erase(entry.number);
  }
  parked_gauge_.set(static_cast<double>(parked_.size()));
}

// How long the record rests after its reconciliation. Also logs when the record begins to keep
// failing, and when that ends.
std::chrono::nanoseconds Hub::rest_after(const KindState& kind, RecordEntry& entry,
                                         const Report& report) {
  const std::string object = entry.ns + "/" + entry.name;
  if (report.end != Report::End::retry) {
    if (entry.backoff.failures() >= quiet_failures) {
      host_.info("no longer failing", {{"kind", kind.name()},
                                       {"object", object},
                                       {"failures", std::to_string(entry.backoff.failures())}});
    }
    entry.backoff.reset();
    return context_->rules.rest;
  }
  if (entry.backoff.failures() == 0) entry.backoff = Backoff(context_->rules.retry);
  std::chrono::nanoseconds rest = entry.backoff.next(host_.random(), report.retry_after);
  if (report.right_refused && entry.parking.right_refused())
    rest = std::min(rest, entry.parking.patience_ends(context_->rules.parking) - now());
  retries_.add();
  if (entry.backoff.failures() == quiet_failures) {
    host_.warn("keeps failing",
               {{"kind", kind.name()}, {"object", object}, {"reason", report.why}});
  }
  return rest;
}

void Hub::take_over(KindState& kind, RecordEntry& entry, const Report& report) {
  entry.unplaced = report.unplaced;
  if (entry.unplaced) kind.foreign_incarnations.seen(entry.unplaced, now());
  entry.applied = report.applied;
  for (const Repair& r : report.repaired)
    entry.repairs.note(r, context_->rules.repairs, now(), host_.random());
  for (const std::string& path : report.shares) kind.sharers[path] = entry.number;
  for (const auto& w : report.written) {
    if (w.text == nullptr) {
      kind.observed.remove(w.path, w.resource_version);
    } else {
      kind.observed.put_written(w.watch, w.path, w.text, w.resource_version,
                                w.attributed ? &entry : nullptr);
    }
  }
}

void Hub::publish(KindState& kind, RecordEntry& entry, const Report& report) {
  const bool failing =
      report.end == Report::End::retry && entry.backoff.failures() >= quiet_failures;
  const auto said =
      publication(report, entry,
                  {failing, kind.desired.lives(entry.id), kind.views.sees(report.relies_on),
                   entry.repairs.contested(context_->rules.repairs)});
  if (said.issue) publisher_->issue(kind.name(), entry, said.issue->condition, said.issue->reason);
  if (said.withheld) entry.withheld = *said.withheld;
  if (said.look_again) workers_.add(entry.number, Priority::repair, now());
  if (said.status) publisher_->status(kind.name(), entry, *said.status);
}

void Hub::resync() {
  context_->ensured.turn();
  for (auto& kind : kinds_) {
    // Judges what has arrived since the last snapshot, nobody names, and judge_arrivals left: a
    // restored backup of the cluster, for example.
    if (kind->complete()) {
      if (const auto found = kind->departures.judge_again(kind->desired, context_->rules.prune))
        judged(*kind, *found);
    }
    count_orphans(*kind);
    kind->desired.each([&](RecordEntry& entry) {
      if (entry.intent == Intent::apply || entry.intent == Intent::remove ||
          entry.intent == Intent::hold)
        workers_.add(entry.number, Priority::resync, now());
    });
  }
  resync_timer_.after(context_->rules.resync_interval, [this] { resync(); });
  pump();
}

}  // namespace davit::applier
