#include "record_table.hpp"

#include <algorithm>
#include <utility>

namespace davit::applier {
namespace {

constexpr size_t predecessors_max = 100;

Intent intent_of(sink::ChangeType type) {
  switch (type) {
    case sink::ChangeType::apply:
      return Intent::apply;
    case sink::ChangeType::remove:
      return Intent::remove;
    default:
      return Intent::hold;
  }
}

std::string name_key(const std::string& ns, const std::string& name) {
  return ns + "/" + name;
}

bool wanted(const RecordEntry& entry) {
  return entry.intent == Intent::apply || entry.intent == Intent::hold;
}

bool same(const RecordEntry& entry, const sink::Change& change) {
  return entry.version == change.version && entry.intent == intent_of(change.type) &&
         entry.payload.view() == change.payload.view() && entry.record_state == change.state &&
         entry.annotations == change.annotations;
}

void remember(RecordEntry& entry, RecordEntry::Predecessor record) {
  auto& before = entry.predecessors;
  std::erase_if(before, [&](const auto& b) { return b.id == record.id; });
  before.push_back(std::move(record));
  if (before.size() > predecessors_max) before.erase(before.begin());
}

// Another record takes the entry's name.
void pass_on(RecordEntry& entry, const std::string& id) {
  std::erase_if(entry.predecessors, [&](const auto& b) { return b.id == id; });
  const bool dead = entry.intent == Intent::remove || entry.taken_over_at;
  remember(entry, {entry.id, std::max(entry.version, entry.taken_over_at), dead});
}

sink::Outcome outcome_of(const RecordEntry& entry) {
  if (entry.state == RecordEntry::State::parked) return sink::Outcome::parked;
  return entry.intent == Intent::hold ? sink::Outcome::held : sink::Outcome::done;
}

}  // namespace

bool RecordTable::begin(bool snapshot, Incarnation incarnation) {
  if (snapshot) ++snapshot_;
  return std::exchange(incarnation_, incarnation) != incarnation;
}

RecordEntry* RecordTable::find_by_name(const sink::Change& change) {
  const auto it = by_name_.find(name_key(change.ns, change.name));
  if (it != by_name_.end()) return it->second;
  if (!change.ns.empty()) return nullptr;
  // A delete may leave the namespace out when all objects of the kind live in one. That is rare, so
  // a scan of all entries is enough.
  for (auto& [number, entry] : entries_) {
    if (entry->name == change.name) return entry.get();
  }
  return nullptr;
}

RecordEntry& RecordTable::at(const std::string& ns, const std::string& name) {
  RecordEntry*& entry = by_name_[name_key(ns, name)];
  if (entry == nullptr && !ns.empty()) {
    // A delete without a namespace may come before the objects that show its namespace.
    if (auto early = by_name_.extract(name_key({}, name))) {
      entry = early.mapped();
      entry->ns = ns;
    }
  }
  if (entry == nullptr) {
    auto made = std::make_unique<RecordEntry>();
    made->number = next_;
    next_ += step_;
    made->ns = ns;
    made->name = name;
    entry = made.get();
    entries_.emplace(made->number, std::move(made));
  }
  return *entry;
}

RecordEntry* RecordTable::find(uint64_t number) {
  const auto it = entries_.find(number);
  return it == entries_.end() ? nullptr : it->second.get();
}

RecordEntry* RecordTable::find(const std::string& ns, const std::string& name) {
  const auto it = by_name_.find(name_key(ns, name));
  return it == by_name_.end() ? nullptr : it->second;
}

void RecordTable::identify(RecordEntry& entry, const std::string& id) {
  const auto [begin, end] = by_id_.equal_range(entry.id);
  const auto known = std::find_if(begin, end, [&](const auto& e) { return e.second == &entry; });
  if (known != end) by_id_.erase(known);
  entry.id = id;
  if (!id.empty()) by_id_.emplace(id, &entry);
}

RecordEntry* RecordTable::of_record(const std::string& id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

void RecordTable::erase(RecordEntry& entry) {
  identify(entry, {});
  by_name_.erase(name_key(entry.ns, entry.name));
  entries_.erase(entry.number);
}

void RecordTable::each(const std::function<void(RecordEntry&)>& visit) const {
  for (auto it = entries_.begin(); it != entries_.end();) {
    RecordEntry& entry = *(it++)->second;  // the visitor may erase it
    visit(entry);
  }
}

uint64_t RecordTable::counted() const {
  uint64_t out = 0;
  for (const auto& [number, entry] : entries_) {
    if (named_now(*entry) && wanted(*entry)) ++out;
  }
  return out;
}

bool RecordTable::lives(const std::string& id) const {
  const auto [begin, end] = by_id_.equal_range(id);
  return std::any_of(begin, end, [](const auto& entry) {
    return !entry.second->taken_over_at && wanted(*entry.second);
  });
}

bool RecordTable::restore_name(sink::Change& change) const {
  if (change.type != sink::ChangeType::remove || !change.name.empty()) return true;
  const auto [begin, end] = by_id_.equal_range(change.key.id);
  const auto left = std::find_if(begin, end, [this](const auto& entry) {
    return entry.second->other_deleted_in && entry.second->other_deleted_in == incarnation_;
  });
  if (left == end) return false;
  change.ns = left->second->ns;
  change.name = left->second->name;
  return true;
}

void RecordTable::taken_over(const std::string& id, Version version) {
  const auto [begin, end] = by_id_.equal_range(id);
  for (auto it = begin; it != end; ++it) {
    RecordEntry& entry = *it->second;
    // A restored store may give the same versions to other changes, so another incarnation counts,
    // too.
    if (wanted(entry) && (entry.version < version || entry.incarnation != incarnation_))
      entry.taken_over_at = version;
  }
}

RecordTable::Accepted RecordTable::accept(const sink::Change& change) {
  Accepted out;
  RecordEntry* known = find_by_name(change);
  RecordEntry& entry = known != nullptr ? *known : at(change.ns, change.name);
  if (named_now(entry) && change.version < entry.version) {
    out.outcome = sink::Outcome::done;  // older than the present intent
    return out;
  }
  const bool other_id = !change.key.id.empty() && !entry.id.empty() && change.key.id != entry.id;
  if (change.type == sink::ChangeType::remove && other_id && wanted(entry) && named_now(entry) &&
      !entry.taken_over_at) {
    entry.other_deleted_in = incarnation_;
    remember(entry, {change.key.id, change.version, true});
    out.entry = &entry;
    out.outcome = sink::Outcome::done;  // another record has the name by now
    return out;
  }
  const bool again = same(entry, change) && !entry.taken_over_at;
  entry.snapshot = snapshot_;
  entry.incarnation = incarnation_;
  out.entry = &entry;
  if (again) {
    if (entry.state == RecordEntry::State::pending) {
      entry.outstanding.push_back(change.version);
    } else {
      out.outcome = outcome_of(entry);
    }
    return out;
  }
  out.superseded.swap(entry.outstanding);
  entry.outstanding.push_back(change.version);
  if (other_id) pass_on(entry, change.key.id);
  entry.intent = intent_of(change.type);
  entry.version = change.version;
  entry.payload = change.payload;
  entry.record_state = change.state;
  entry.annotations = change.annotations;
  entry.taken_over_at = {};
  entry.other_deleted_in = {};
  if (!change.key.id.empty()) identify(entry, change.key.id);
  entry.state = RecordEntry::State::pending;
  entry.parking = {};
  entry.pruned_at = {};
  entry.backoff.reset();
  out.work = true;
  return out;
}

}  // namespace davit::applier
