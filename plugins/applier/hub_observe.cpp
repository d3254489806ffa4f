// Hub: watch events, and the records that a snapshot did not name.
#include <algorithm>

#include <boost/json.hpp>

#include "hub.hpp"

namespace davit::applier {

constexpr std::chrono::seconds arrivals_gather{1};

void Hub::on_arrival(KindState& kind, const Arrival& a) {
  if (a.type == DAVIT_WATCH_TROUBLE || a.type == DAVIT_WATCH_REFUSED) return on_trouble(kind, a);
  View& view = kind.views[a.watch];
  // The watch of a resource that is not installed shows an empty list without a version. That does
  // not end its trouble.
  const bool nothing_there =
      a.resource_version.empty() && (a.type == DAVIT_WATCH_RESTART || a.type == DAVIT_WATCH_SYNCED);
  if (view.failures > 0 && !nothing_there) {
    host_.info("watch works again", {{"kind", kind.name()},
                                     {"resource", name_of(kind.resource(a.watch))},
                                     {"failures", std::to_string(view.failures)}});
    view.failures = 0;
    if (!kind.absent.empty()) review_soon();
    queue_.hasten(now());  // the API server is back, so no back-off needs to run out
    try_parked_again(kind, a.watch);
  }
  kind.observed.passed(a.watch, a.resource_version);
  switch (a.type) {
    case DAVIT_WATCH_RESTART:
      kind.observed.restart(a.watch);
      view.sight.restarted(moment());
      return plan_sights();
    case DAVIT_WATCH_SYNCED:
      kind.observed.synced(a.watch, [&](Slot& slot) { touch(kind, slot); });
      if (nothing_there && view.failures > 0) review_soon();  // its definition may be gone
      view.sight.synced();
      return look(kind);
    default:
      on_object(kind, a);
      if (view.sight.due() || view.sight.blind()) {
        view.sight.event();
        look(kind);
      }
  }
}

void Hub::on_trouble(KindState& kind, const Arrival& a) {
  View& view = kind.views[a.watch];
  const bool refused = a.type == DAVIT_WATCH_REFUSED;
  if (refused) {
    view.sight.refused(a.trouble, moment());
  } else {
    view.sight.cut(a.trouble, moment());
  }
  if (view.failures++ == 0) {
    host_.warn(refused ? "watch is refused" : "watch fails",
               {{"kind", kind.name()},
                {"resource", name_of(kind.resource(a.watch))},
                {"reason", a.trouble}});
    // A right may have been taken away. The API server can say which one.
    if (refused) review_soon();
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
    for (Slot* slot : kind.observed.remove(a.path, a.resource_version)) touch(kind, *slot);
    return;
  }
  const ObservedObject* known = kind.observed.find(a.path);
  const Slots before = known == nullptr ? Slots() : known->slots;
  Slots now;
  for (const Named& record : a.records) {
    Slot* slot = &kind.desired.at(record.ns, record.name);
    if (std::find(now.begin(), now.end(), slot) == now.end()) now.push_back(slot);
  }
  const bool news = kind.observed.put(a.watch, a.path, a.text, a.resource_version, now, a.foreign);
  // An edit of the object's labels may have made it another record's.
  for (Slot* slot : before) {
    if (news && std::find(now.begin(), now.end(), slot) == now.end()) touch(kind, *slot);
  }
  for (Slot* slot : now) {
    if (news) {
      touch(kind, *slot);
    } else if (slot->wish == Wish::unknown && slot->objects.empty()) {
      erase(kind, *slot);
    }
  }
}

void Hub::release_unseen(KindState& kind) {
  std::set<uint64_t> unseen;
  unseen.swap(kind.unseen);
  for (const uint64_t number : unseen) queue_.add(number, Band::change, now());
}

// Something has changed in the cluster for this slot.
void Hub::touch(KindState& kind, Slot& slot) {
  if (slot.wish == Wish::apply || slot.wish == Wish::remove || slot.wish == Wish::hold) {
    queue_.add(slot.number, Band::repair, now());
    return;
  }
  // Otherwise sees_again looks at it once all watches can be trusted.
  if (!kind.complete()) return;
  if (slot.objects.empty()) return depart(kind, slot);
  if (slot.wish == Wish::unknown) judge_soon(kind);
}

// The cluster has nothing of the record left, and no stream names it.
void Hub::depart(KindState& kind, Slot& slot) {
  telling_->issue(kind.name(), slot, {}, {});
  if (!slot.id.empty() && !slot.out && !kind.desired.lives(slot.id))
    say_gone(kind, {slot.id, slot.ns, slot.name, std::max(slot.version, kind.proven_through())});
  erase(kind, slot);
}

void Hub::erase(KindState& kind, Slot& slot) {
  if (slot.out) return;
  for (const Slot::Predecessor& p : slot.had_it_before) {
    if (kind.desired.lives(p.id)) continue;
    say_gone(kind, {p.id, slot.ns, slot.name, std::max(p.version, kind.proven_through())});
  }
  slot.state = Slot::State::settled;
  count_parked(slot);
  kind.unseen.erase(slot.number);
  queue_.forget(slot.number);
  kind.desired.erase(slot);
}

// Whether the snapshot has named the tombstone of the record that the object was made of. A
// tombstone has no name when another record has taken the name.
bool Hub::proven_dead(const KindState& kind, const Slot& slot, const Meta& meta) {
  const auto dead_as = [&](const std::string& name) {
    const auto dead = kind.tombstones.find({name, meta.id});
    return dead != kind.tombstones.end() && dead->second > meta.made_of.version;
  };
  return !meta.id.empty() && (dead_as(slot.ns + "/" + slot.name) || dead_as("/"));
}

// A record that the snapshot did not name, if the cluster has objects with our stamps for it.
std::optional<Candidate> Hub::candidate(const KindState& kind, const Slot& slot) {
  Candidate out{slot.number, {}, true, false};
  bool ours = false;
  for (const ObservedObject* o : slot.objects) {
    if (o->foreign) continue;
    boost::system::error_code bad;
    const json::value object = json::parse(*o->text, bad);
    if (bad || !object.is_object()) continue;
    const Meta meta = meta_of(object.get_object());
    if (meta.region.empty() || !kind.owned(*o)) continue;
    ours = true;
    if (!meta.id.empty()) out.made_of.push_back(meta.made_of);
    out.proven_dead = out.proven_dead && proven_dead(kind, slot, meta);
    out.disputed =
        out.disputed || (!meta.record.empty() && meta.record != slot.ns + "/" + slot.name);
  }
  if (!ours) return std::nullopt;
  return out;
}

// The snapshot is complete, and so are the watches. What the snapshot did not name is pruned or
// shown as orphaned.
void Hub::judge(KindState& kind) {
  const SnapshotEnd end = *std::exchange(kind.ended, std::nullopt);
  if (end.live_count) kind.judged = end;
  std::vector<Candidate> candidates;
  const bool proves_nothing = end.proves_nothing(shop_->rules.prune);
  kind.desired.each([&](Slot& slot) {
    if (kind.desired.named_now(slot)) return;
    if (proves_nothing && slot.wish != Wish::unknown) return;
    settle(kind, slot, sink::Outcome::done);
    if (slot.wish == Wish::orphan) return;  // until the store names it again or a person removes it
    if (const auto c = candidate(kind, slot)) {
      candidates.push_back(*c);
    } else if (slot.wish != Wish::unknown) {
      telling_->issue(kind.name(), slot, {}, {});
      slot.wish = Wish::unknown;
      if (slot.objects.empty()) depart(kind, slot);
    }
  });
  kind.arrivals_removed = 0;
  conclude(kind, end, candidates);
  bury(kind);
  if (!proves_nothing && end.whole()) take_unnamed_for_dead(kind);
  count_orphans(kind);
}

// What arrives together is judged together.
void Hub::judge_soon(KindState& kind) {
  if (!kind.judged) return;
  kind.arrived = true;
  if (arrival_timer_.waiting()) return;
  arrival_timer_.after(arrivals_gather, [this] {
    for (const auto& each : kinds_) {
      if (std::exchange(each->arrived, false)) judge_arrivals(*each);
    }
    pump();
  });
}

// Objects of records that are known to be dead: an apply that an earlier process had sent, or one
// that somebody repeats. Whatever is in doubt, and more than a few records at once, as a restored
// backup of the cluster brings, waits for the resync, which judges all together.
void Hub::judge_arrivals(KindState& kind) {
  if (!kind.judged || !kind.judged->whole() || !kind.complete()) return;
  std::vector<Candidate> dead;
  kind.desired.each([&](Slot& slot) {
    if (slot.wish != Wish::unknown || kind.desired.named_now(slot)) return;
    const auto c = candidate(kind, slot);
    if (c && lost(*kind.judged, *c).empty()) dead.push_back(*c);
  });
  if (kind.arrivals_removed + dead.size() > shop_->rules.prune.always_allowed) return;
  kind.arrivals_removed += dead.size();
  conclude(kind, *kind.judged, dead);
}

void Hub::conclude(KindState& kind, const SnapshotEnd& end,
                   const std::vector<Candidate>& candidates) {
  const Verdict verdict = prune(end, candidates, shop_->rules.prune);
  for (const uint64_t number : verdict.remove)
    kind.desired.find(number)->pruned_at = end.at_version.value_or(0);
  if (!verdict.refusal.empty()) {
    host_.error("nothing is pruned", {{"kind", kind.name()},
                                      {"reason", verdict.refusal},
                                      {"unnamed", std::to_string(candidates.size())}});
  }
  carry_out(kind, verdict);
}

void Hub::count_orphans(KindState& kind) {
  size_t orphans = 0;
  kind.desired.each([&](const Slot& slot) { orphans += slot.wish == Wish::orphan ? 1 : 0; });
  kind.orphaned.set(static_cast<double>(orphans));
}

void Hub::carry_out(KindState& kind, const Verdict& verdict) {
  const auto name_it = [&](Slot& slot) {
    // When no stream has named the record, its id comes from the stamp.
    for (const ObservedObject* o : slot.objects) {
      if (!slot.id.empty()) return;
      boost::system::error_code bad;
      const json::value object = json::parse(*o->text, bad);
      if (!bad && object.is_object() && !o->foreign)
        kind.desired.identify(slot, meta_of(object.get_object()).id);
    }
  };
  for (const uint64_t number : verdict.remove) {
    Slot& slot = *kind.desired.find(number);
    name_it(slot);
    slot.wish = Wish::remove;
    slot.state = Slot::State::pending;
    slot.payload = {};
    queue_.add(number, Band::change, now());
  }
  for (const auto& orphan : verdict.orphans) {
    Slot& slot = *kind.desired.find(orphan.slot);
    name_it(slot);
    slot.wish = Wish::orphan;
    slot.payload = {};
    telling_->issue(kind.name(), slot, DAVIT_ISSUE_ORPHANED, orphan.why);
  }
  if (!verdict.remove.empty()) {
    host_.info("pruning what the snapshot did not name",
               {{"kind", kind.name()}, {"records", std::to_string(verdict.remove.size())}});
  }
  if (!verdict.orphans.empty()) {
    host_.warn("orphaned: not named by the store and left alone",
               {{"kind", kind.name()}, {"records", std::to_string(verdict.orphans.size())}});
  }
}

}  // namespace davit::applier
