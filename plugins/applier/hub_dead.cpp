// Hub: of whom nothing is left, and that this is said. It is said by the record's id: its name may
// be another record's by now.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hub.hpp"

namespace davit::applier {
namespace {

constexpr size_t departed_max = 1'000;  // of a kind: some 100 bytes each

// Nobody works on it, and of its objects none is ours.
bool left_behind(const Slot& slot) {
  return slot.wish == Wish::unknown && !slot.out &&
         std::all_of(slot.objects.begin(), slot.objects.end(),
                     [](const ObservedObject* o) { return o->foreign; });
}

// The slots whose names these records had before.
std::unordered_map<std::string, Slot*> heirs_in(Desired& desired) {
  std::unordered_map<std::string, Slot*> out;
  desired.each([&](Slot& slot) {
    for (const Slot::Predecessor& p : slot.had_it_before) out[p.id] = &slot;
  });
  return out;
}

}  // namespace

// Dead when the snapshot began. Whether objects that stand for it may go is judged as of any record
// that the snapshot does not name: the store may have lost what they were made of.
bool Hub::lingers(const KindState& kind, const sink::Change& change) {
  return change.type == sink::ChangeType::remove && !change.key.id.empty() &&
         change.version <= kind.snapshot_began;
}

void Hub::note_dead(KindState& kind, const sink::Change& change) {
  kind.lingering.push_back({change.key.id, change.ns, change.name, change.version});
  if (!kind.judged) {  // a proof of the snapshot's
    uint64_t& dead = kind.tombstones[{change.ns + "/" + change.name, change.key.id}];
    dead = std::max(dead, change.version);
  }
  if (change.name.empty()) kind.desired.taken_over(change.key.id, change.version);
}

// Says gone for those of whom nothing is left: the agent that deleted it died before it could, or
// another record has taken the name.
void Hub::bury(KindState& kind) {
  std::optional<std::unordered_map<std::string, Slot*>> heirs;
  for (const Lingering& dead : std::exchange(kind.lingering, {})) {
    Slot* slot =
        dead.name.empty() ? kind.desired.of_record(dead.id) : kind.desired.find(dead.ns, dead.name);
    if (slot != nullptr && slot->id.empty())
      kind.desired.identify(*slot, dead.id);  // its stamps had lost it
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
    for (Slot::Predecessor& p : heir->had_it_before) p.dead = p.dead || p.id == dead.id;
    if (heir->wish == Wish::apply) queue_.add(heir->number, Band::repair, now());
  }
}

// A complete snapshot names each record that lives. Who is not named is dead, or a restored store
// has lost it; its tombstone comes only as long as no agent has said gone.
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

// What stands under the name is this record's by now. They are told without the name: over ctrl.v1,
// which knows nothing else of a record, it would be said of this one.
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

// For a store that is restored, and has lost that it was said: a stream that goes on names no dead.
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
