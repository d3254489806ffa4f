// Hub: reports records as gone once nothing of them is left. A report names the record's id,
// because another record may have its name by now.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hub.hpp"

namespace davit::applier {
namespace {

constexpr size_t departed_max = 1'000;  // of one kind; about 100 bytes each

// No trip has the slot, and none of its objects is ours.
bool left_behind(const Slot& slot) {
  return slot.wish == Wish::unknown && !slot.out &&
         std::all_of(slot.objects.begin(), slot.objects.end(),
                     [](const ObservedObject* o) { return o->foreign; });
}

// For each predecessor's id, the slot that has its name now.
std::unordered_map<std::string, Slot*> heirs_in(Desired& desired) {
  std::unordered_map<std::string, Slot*> out;
  desired.each([&](Slot& slot) {
    for (const Slot::Predecessor& p : slot.had_it_before) out[p.id] = &slot;
  });
  return out;
}

}  // namespace

// True for a delete from before the snapshot began. Its objects are judged like those of any record
// that the snapshot does not name, because the store may have lost what they were made of.
bool Hub::lingers(const KindState& kind, const sink::Change& change) {
  return change.type == sink::ChangeType::remove && !change.key.id.empty() &&
         change.version <= kind.snapshot_began;
}

void Hub::note_dead(KindState& kind, const sink::Change& change) {
  kind.lingering.push_back({change.key.id, change.ns, change.name, change.version});
  if (!kind.judged) {  // a proof within the present snapshot
    uint64_t& dead = kind.tombstones[{change.ns + "/" + change.name, change.key.id}];
    dead = std::max(dead, change.version);
  }
  if (change.name.empty()) kind.desired.taken_over(change.key.id, change.version);
}

// Reports as gone those deleted records of which nothing is left. The agent that deleted the
// objects may have died before it reported that, or another record may have taken the name.
void Hub::bury(KindState& kind) {
  std::optional<std::unordered_map<std::string, Slot*>> heirs;
  for (const Lingering& dead : std::exchange(kind.lingering, {})) {
    Slot* slot =
        dead.name.empty() ? kind.desired.of_record(dead.id) : kind.desired.find(dead.ns, dead.name);
    if (slot != nullptr && slot->id.empty())
      // The objects' stamps had lost the id.
      kind.desired.identify(*slot, dead.id);
    if (slot != nullptr && slot->id == dead.id && !left_behind(*slot)) continue;
    Slot* heir = nullptr;
    if (dead.name.empty()) {
      if (!heirs) heirs = heirs_in(kind.desired);
      if (const auto it = heirs->find(dead.id); it != heirs->end()) heir = it->second;
    }
    if (heir == nullptr) {
      say_gone(kind, dead);
      continue;
    }
    for (Slot::Predecessor& p : heir->had_it_before) {
      if (p.id != dead.id) continue;
      p.dead = true;
      p.version = std::max(p.version, dead.version);
    }
    if (heir->wish == Wish::apply) queue_.add(heir->number, Band::repair, now());
  }
}

// A complete snapshot names every live record. A predecessor that it does not name is dead, or a
// restored store has lost it. The snapshot names its tombstone only while no agent has reported it
// as gone.
void Hub::take_unnamed_for_dead(KindState& kind) {
  kind.desired.each([&](Slot& slot) {
    bool news = false;
    for (Slot::Predecessor& p : slot.had_it_before) {
      if (p.dead || kind.desired.lives(p.id)) continue;
      p.dead = news = true;
      p.version = std::max(p.version, kind.proven_through());
    }
    if (news && slot.wish == Wish::apply) queue_.add(slot.number, Band::repair, now());
  });
}

// The objects with this name are this record's by now. Its dead predecessors are reported as gone
// without a name: ctrl.v1 knows a record by its name only, and would take the report to be about
// this record.
void Hub::bury_predecessors(KindState& kind, Slot& slot) {
  std::erase_if(slot.had_it_before, [&](const Slot::Predecessor& p) {
    if (!p.dead || kind.desired.lives(p.id)) return false;
    say_gone(kind, {p.id, {}, {}, p.version});
    return true;
  });
}

void Hub::say_gone(KindState& kind, Lingering dead) {
  telling_->gone(kind.name(), dead);
  remember(kind, std::move(dead));
}

// Kept for a restored store, which may have lost the report: a stream that goes on lists no deleted
// records.
void Hub::remember(KindState& kind, Lingering gone) {
  kind.departed.push_back(std::move(gone));
  if (kind.departed.size() > departed_max) kind.departed.pop_front();
}

void Hub::say_again_who_is_gone(KindState& kind) {
  std::set<std::string> known;
  kind.desired.each([&](const Slot& slot) { known.insert(slot.id); });
  for (const Lingering& dead : kind.departed) {
    if (!known.contains(dead.id)) telling_->gone(kind.name(), dead);
  }
}

}  // namespace davit::applier
