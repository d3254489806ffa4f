// Hub: watch events, and the records that a snapshot did not name.
#include <algorithm>

#include "hub.hpp"

namespace davit::applier {

constexpr std::chrono::seconds arrivals_gather{1};

void Hub::on_arrival(KindState& kind, const Arrival& a) {
  if (a.type == DAVIT_WATCH_TROUBLE || a.type == DAVIT_WATCH_REFUSED) return on_trouble(kind, a);
  Sight& sight = kind.views.of(a.watch);
  // The watch of a resource that is not installed shows an empty list without a version. That does
  // not end its trouble.
  const bool of_the_list = a.type == DAVIT_WATCH_RESTART || a.type == DAVIT_WATCH_SYNCED;
  const bool nothing_there = of_the_list && a.resource_version.empty();
  // An object ends no refusal: it may be of a namespace whose watch is not refused.
  const bool works = of_the_list ? !nothing_there : !sight.was_refused();
  if (kind.watch_failures[a.watch] > 0 && works) works_again(kind, a.watch);
  kind.observed.passed(a.watch, a.resource_version);
  switch (a.type) {
    case DAVIT_WATCH_RESTART:
      kind.observed.restart(a.watch);
      sight.restarted(moment());
      return plan_sights();
    case DAVIT_WATCH_SYNCED:
      kind.observed.synced(a.watch, [&](RecordEntry& entry) { touch(kind, entry); });
      // Its definition may be gone.
      if (nothing_there && kind.watch_failures[a.watch] > 0) review_.soon();
      sight.synced();
      return look(kind);
    default:
      on_object(kind, a);
      if (sight.due() || sight.blind()) {
        sight.event();
        look(kind);
      }
  }
}

void Hub::works_again(KindState& kind, uint32_t watch) {
  host_.info("watch works again",
             {{"kind", kind.name()},
              {"resource", name_of(kind.resource(watch))},
              {"failures", std::to_string(std::exchange(kind.watch_failures[watch], 0))}});
  if (!kind.absent.empty()) review_.soon();
  workers_.hasten(now());  // the API server is back, so no back-off needs to run out
  // What the records are parked for may be there by now: the definition may be installed, or
  // another API server may answer.
  kind.desired.each([&](RecordEntry& entry) {
    if (entry.state != RecordEntry::State::parked) return;
    if (const auto at = entry.parking.watch_works(watch, now()))
      workers_.add(entry.number, Priority::resync, *at);
  });
}

void Hub::on_trouble(KindState& kind, const Arrival& a) {
  const bool refused = a.type == DAVIT_WATCH_REFUSED;
  Sight& sight = kind.views.of(a.watch);
  const bool begins_to_be_refused = refused && !sight.was_refused();
  if (refused) {
    sight.refused(a.trouble, moment());
  } else {
    sight.cut(a.trouble, moment());
  }
  if (kind.watch_failures[a.watch]++ == 0 || begins_to_be_refused) {
    host_.warn(refused ? "watch is refused" : "watch fails",
               {{"kind", kind.name()},
                {"resource", name_of(kind.resource(a.watch))},
                {"reason", a.trouble}});
    // A right may have been taken away. The API server can say which one.
    if (refused) review_.soon();
  }
  look(kind);
  plan_sights();
}

void Hub::on_object(KindState& kind, const Arrival& a) {
  if (a.path.empty()) {
    host_.warn("watch shows an object that cannot be read", {{"kind", kind.name()}});
    return;
  }
  if (a.type == DAVIT_WATCH_DELETED) {
    const RecordEntries had = kind.observed.remove(a.path, a.resource_version);
    for (RecordEntry* entry : had) touch(kind, *entry);
    if (had.empty()) touch_sharer(kind, a.path);
    return;
  }
  const ObservedObject* known = kind.observed.find(a.path);
  const RecordEntries before = known == nullptr ? RecordEntries() : known->entries;
  RecordEntries now;
  for (const Named& record : a.records) {
    RecordEntry* entry = &kind.desired.at(record.ns, record.name);
    if (std::find(now.begin(), now.end(), entry) == now.end()) now.push_back(entry);
  }
  const bool news = kind.observed.put(a.watch, a.path, a.text, a.resource_version, now, a.foreign);
  if (news && now.empty()) touch_sharer(kind, a.path);
  // An edit of the object's labels may have made it another record's.
  for (RecordEntry* entry : before) {
    if (news && std::find(now.begin(), now.end(), entry) == now.end()) touch(kind, *entry);
  }
  for (RecordEntry* entry : now) {
    if (news) {
      touch(kind, *entry);
    } else if (entry->intent == Intent::unknown && entry->objects.empty()) {
      erase(kind, *entry);
    }
  }
}

void Hub::release_unseen(KindState& kind) {
  std::set<uint64_t> unseen;
  unseen.swap(kind.unseen);
  for (const uint64_t number : unseen) workers_.add(number, Priority::change, now());
}

// Something has changed in the cluster for this entry.
void Hub::touch(KindState& kind, RecordEntry& entry) {
  if (entry.intent == Intent::apply || entry.intent == Intent::remove ||
      entry.intent == Intent::hold) {
    workers_.add(entry.number, Priority::repair, now());
    return;
  }
  // Otherwise sees_again looks at it once all watches can be trusted.
  if (!kind.complete()) return;
  if (entry.objects.empty()) return depart(kind, entry);
  if (entry.intent == Intent::unknown) judge_soon(kind);
}

// An object that several records share has changed. One of them is enough to put it right.
void Hub::touch_sharer(KindState& kind, const std::string& path) {
  const auto sharer = kind.sharers.find(path);
  if (sharer == kind.sharers.end()) return;
  RecordEntry* entry = kind.desired.find(sharer->second);
  if (entry != nullptr && entry->intent == Intent::apply) return touch(kind, *entry);
  kind.sharers.erase(sharer);  // the next record that looks at the object takes its place
}

// The cluster has nothing of the record left, and no stream names it.
void Hub::depart(KindState& kind, RecordEntry& entry) {
  publisher_->issue(kind.name(), entry, {}, {});
  if (auto record = kind.departures.departed(entry, kind.desired))
    publisher_->gone(kind.name(), *record);
  erase(kind, entry);
}

void Hub::erase(KindState& kind, RecordEntry& entry) {
  if (entry.out) return;
  report_gone(kind, kind.departures.erased(entry, kind.desired));
  entry.state = RecordEntry::State::settled;
  count_parked(entry);
  kind.unseen.erase(entry.number);
  workers_.forget(entry.number);
  kind.desired.erase(entry);
}

void Hub::report_gone(KindState& kind, const std::vector<GoneRecord>& records) {
  for (const GoneRecord& record : records) publisher_->gone(kind.name(), record);
}

void Hub::confirm_gone(KindState& kind) {
  const auto found = kind.departures.confirm(kind.desired);
  report_gone(kind, found.gone);
  for (const uint64_t number : found.look_at) workers_.add(number, Priority::repair, now());
}

// The snapshot is complete, and so are the watches.
void Hub::judge(KindState& kind) {
  judged(kind, kind.departures.judge(kind.desired, context_->rules.prune));
}

void Hub::judged(KindState& kind, const Departures::Judgement& found) {
  for (const uint64_t number : found.settled)
    settle(kind, *kind.desired.find(number), sink::Outcome::done);
  for (const uint64_t number : found.released) {
    RecordEntry& entry = *kind.desired.find(number);
    publisher_->issue(kind.name(), entry, {}, {});
    entry.intent = Intent::unknown;
    if (entry.objects.empty()) depart(kind, entry);
  }
  carry_out(kind, found);
  confirm_gone(kind);
  count_orphans(kind);
}

// What arrives together is judged together.
void Hub::judge_soon(KindState& kind) {
  if (!kind.departures.judged()) return;
  kind.arrived = true;
  if (arrival_timer_.waiting()) return;
  arrival_timer_.after(arrivals_gather, [this] {
    for (const auto& each : kinds_) {
      if (!std::exchange(each->arrived, false) || !each->complete()) continue;
      if (const auto found = each->departures.judge_arrivals(each->desired, context_->rules.prune))
        carry_out(*each, *found);
    }
    pump();
  });
}

void Hub::count_orphans(KindState& kind) {
  size_t orphans = 0;
  kind.desired.each(
      [&](const RecordEntry& entry) { orphans += entry.intent == Intent::orphan ? 1 : 0; });
  kind.orphaned.set(static_cast<double>(orphans));
}

// Prunes or orphans what the snapshot did not name.
void Hub::carry_out(KindState& kind, const Departures::Judgement& found) {
  const PruneDecision& decision = found.decision;
  if (!decision.refusal.empty()) {
    host_.error("nothing is pruned", {{"kind", kind.name()},
                                      {"reason", decision.refusal},
                                      {"unnamed", std::to_string(found.candidates)}});
  }
  // When no stream has named the record, its id comes from the stamp.
  const auto name_it = [&](RecordEntry& entry) {
    if (entry.id.empty()) kind.desired.identify(entry, Departures::id_in_stamps(entry));
  };
  for (const uint64_t number : decision.remove) {
    RecordEntry& entry = *kind.desired.find(number);
    name_it(entry);
    entry.intent = Intent::remove;
    entry.pruned_at = found.as_of;
    entry.state = RecordEntry::State::pending;
    entry.payload = {};
    workers_.add(number, Priority::change, now());
  }
  for (const auto& orphan : decision.orphans) {
    RecordEntry& entry = *kind.desired.find(orphan.entry);
    name_it(entry);
    entry.intent = Intent::orphan;
    entry.payload = {};
    publisher_->issue(kind.name(), entry, DAVIT_ISSUE_ORPHANED, orphan.why);
  }
  if (!decision.remove.empty()) {
    host_.info("pruning what the snapshot did not name",
               {{"kind", kind.name()}, {"records", std::to_string(decision.remove.size())}});
  }
  if (!decision.orphans.empty()) {
    host_.warn("orphaned: not named by the store and left alone",
               {{"kind", kind.name()}, {"records", std::to_string(decision.orphans.size())}});
  }
}

}  // namespace davit::applier
