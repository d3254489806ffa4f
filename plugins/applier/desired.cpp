#include "desired.hpp"

#include <algorithm>
#include <utility>

namespace davit::applier {
namespace {

constexpr size_t had_it_before_max = 100;

Wish wish_of(sink::ChangeType type) {
  switch (type) {
    case sink::ChangeType::apply:
      return Wish::apply;
    case sink::ChangeType::remove:
      return Wish::remove;
    default:
      return Wish::hold;
  }
}

std::string name_key(const std::string& ns, const std::string& name) {
  return ns + "/" + name;
}

bool wanted(const Slot& slot) {
  return slot.wish == Wish::apply || slot.wish == Wish::hold;
}

bool same(const Slot& slot, const sink::Change& change) {
  return slot.version == change.version && slot.wish == wish_of(change.type) &&
         slot.payload.view() == change.payload.view() && slot.record_state == change.state &&
         slot.annotations == change.annotations;
}

void remember(Slot& slot, Slot::Predecessor record) {
  auto& before = slot.had_it_before;
  std::erase_if(before, [&](const auto& b) { return b.id == record.id; });
  before.push_back(std::move(record));
  if (before.size() > had_it_before_max) before.erase(before.begin());
}

// Another record takes the slot's name.
void pass_on(Slot& slot, const std::string& id) {
  std::erase_if(slot.had_it_before, [&](const auto& b) { return b.id == id; });
  const bool dead = slot.wish == Wish::remove || slot.taken_over_at != 0;
  remember(slot, {slot.id, std::max(slot.version, slot.taken_over_at), dead});
}

sink::Outcome outcome_of(const Slot& slot) {
  if (slot.state == Slot::State::parked) return sink::Outcome::parked;
  return slot.wish == Wish::hold ? sink::Outcome::held : sink::Outcome::done;
}

}  // namespace

bool Desired::begin(bool snapshot, uint64_t incarnation) {
  if (snapshot) ++snapshot_;
  return std::exchange(incarnation_, incarnation) != incarnation;
}

Slot* Desired::find_by_name(const sink::Change& change) {
  const auto it = by_name_.find(name_key(change.ns, change.name));
  if (it != by_name_.end()) return it->second;
  if (!change.ns.empty()) return nullptr;
  // A delete may leave the namespace out when all objects of the kind live in one. That is rare, so
  // a scan of all slots is enough.
  for (auto& [number, slot] : slots_) {
    if (slot->name == change.name) return slot.get();
  }
  return nullptr;
}

Slot& Desired::at(const std::string& ns, const std::string& name) {
  Slot*& slot = by_name_[name_key(ns, name)];
  if (slot == nullptr && !ns.empty()) {
    // A delete without a namespace may come before the objects that show its namespace.
    if (auto early = by_name_.extract(name_key({}, name))) {
      slot = early.mapped();
      slot->ns = ns;
    }
  }
  if (slot == nullptr) {
    auto made = std::make_unique<Slot>();
    made->number = next_;
    next_ += step_;
    made->ns = ns;
    made->name = name;
    slot = made.get();
    slots_.emplace(made->number, std::move(made));
  }
  return *slot;
}

Slot* Desired::find(uint64_t number) {
  const auto it = slots_.find(number);
  return it == slots_.end() ? nullptr : it->second.get();
}

Slot* Desired::find(const std::string& ns, const std::string& name) {
  const auto it = by_name_.find(name_key(ns, name));
  return it == by_name_.end() ? nullptr : it->second;
}

void Desired::identify(Slot& slot, const std::string& id) {
  const auto [begin, end] = by_id_.equal_range(slot.id);
  const auto known = std::find_if(begin, end, [&](const auto& e) { return e.second == &slot; });
  if (known != end) by_id_.erase(known);
  slot.id = id;
  if (!id.empty()) by_id_.emplace(id, &slot);
}

Slot* Desired::of_record(const std::string& id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

void Desired::erase(Slot& slot) {
  identify(slot, {});
  by_name_.erase(name_key(slot.ns, slot.name));
  slots_.erase(slot.number);
}

void Desired::each(const std::function<void(Slot&)>& visit) const {
  for (auto it = slots_.begin(); it != slots_.end();) {
    Slot& slot = *(it++)->second;  // the visitor may erase it
    visit(slot);
  }
}

uint64_t Desired::counted() const {
  uint64_t out = 0;
  for (const auto& [number, slot] : slots_) {
    if (named_now(*slot) && wanted(*slot)) ++out;
  }
  return out;
}

bool Desired::lives(const std::string& id) const {
  const auto [begin, end] = by_id_.equal_range(id);
  return std::any_of(begin, end, [](const auto& entry) {
    return entry.second->taken_over_at == 0 && wanted(*entry.second);
  });
}

bool Desired::restore_name(sink::Change& change) const {
  if (change.type != sink::ChangeType::remove || !change.name.empty()) return true;
  const auto [begin, end] = by_id_.equal_range(change.key.id);
  const auto left = std::find_if(begin, end, [this](const auto& entry) {
    return entry.second->other_died_in != 0 && entry.second->other_died_in == incarnation_;
  });
  if (left == end) return false;
  change.ns = left->second->ns;
  change.name = left->second->name;
  return true;
}

void Desired::taken_over(const std::string& id, uint64_t version) {
  const auto [begin, end] = by_id_.equal_range(id);
  for (auto it = begin; it != end; ++it) {
    Slot& slot = *it->second;
    // A restored store may give the same versions to other changes, so another incarnation counts,
    // too.
    if (wanted(slot) && (slot.version < version || slot.incarnation != incarnation_))
      slot.taken_over_at = version;
  }
}

Desired::Accepted Desired::accept(const sink::Change& change) {
  Accepted out;
  Slot* known = find_by_name(change);
  Slot& slot = known != nullptr ? *known : at(change.ns, change.name);
  if (named_now(slot) && change.version < slot.version) {
    out.outcome = sink::Outcome::done;  // older than the present intent
    return out;
  }
  const bool other_id = !change.key.id.empty() && !slot.id.empty() && change.key.id != slot.id;
  if (change.type == sink::ChangeType::remove && other_id && wanted(slot) && named_now(slot) &&
      slot.taken_over_at == 0) {
    slot.other_died_in = incarnation_;
    remember(slot, {change.key.id, change.version, true});
    out.slot = &slot;
    out.outcome = sink::Outcome::done;  // another record has the name by now
    return out;
  }
  const bool again = same(slot, change) && slot.taken_over_at == 0;
  slot.snapshot = snapshot_;
  slot.incarnation = incarnation_;
  out.slot = &slot;
  if (again) {
    if (slot.state == Slot::State::pending) {
      slot.outstanding.push_back(change.version);
    } else {
      out.outcome = outcome_of(slot);
    }
    return out;
  }
  out.superseded.swap(slot.outstanding);
  slot.outstanding.push_back(change.version);
  if (other_id) pass_on(slot, change.key.id);
  slot.wish = wish_of(change.type);
  slot.version = change.version;
  slot.payload = change.payload;
  slot.record_state = change.state;
  slot.annotations = change.annotations;
  slot.taken_over_at = 0;
  slot.other_died_in = 0;
  if (!change.key.id.empty()) identify(slot, change.key.id);
  slot.state = Slot::State::pending;
  slot.parking = {};
  slot.pruned_at = 0;
  slot.backoff.reset();
  out.work = true;
  return out;
}

}  // namespace davit::applier
