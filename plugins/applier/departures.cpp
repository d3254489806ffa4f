#include "departures.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "observed.hpp"

namespace davit::applier {
namespace {

constexpr size_t reported_max = 1'000;  // of one kind; about 100 bytes each

// No reconciliation has the entry, and none of its objects is ours.
bool left_behind(const RecordEntry& entry) {
  return entry.intent == Intent::unknown && !entry.out &&
         std::all_of(entry.objects.begin(), entry.objects.end(),
                     [](const ObservedObject* o) { return o->foreign; });
}

}  // namespace

void Departures::begin(const sink::Begin& begin, bool other) {
  snapshot_began_ = begin.snapshot ? begin.at.version : Version();
  if (begin.snapshot) {
    judged_.reset();
    ended_.reset();
    deleted_.clear();
    tombstones_.clear();
    reported_.clear();
  } else if (other) {  // a snapshot that has ended is still to be judged
    if (ended_) ended_->go_on(begin.history, begin.at);
    if (judged_) judged_->go_on(begin.history, begin.at);
  }
}

void Departures::reach(Cursor at) {
  if (judged_) judged_->reach(at);
}

// The objects of a record that was deleted before the snapshot began are judged like those of any
// record that the snapshot does not name, because the store may have lost what they were made of.
bool Departures::keep(sink::Change& change, RecordTable& desired) {
  const bool before = change.type == sink::ChangeType::remove && !change.key.id.empty() &&
                      change.version <= snapshot_began_;
  if (!before && desired.restore_name(change)) return false;
  deleted_.push_back({change.key.id, change.ns, change.name, change.version});
  if (!judged_) {  // a proof within the present snapshot
    Version& deleted = tombstones_[{change.ns + "/" + change.name, change.key.id}];
    deleted = std::max(deleted, change.version);
  }
  if (change.name.empty()) desired.taken_over(change.key.id, change.version);
  return true;
}

void Departures::end(const sink::Bookmark& bookmark, const History& history, uint64_t counted) {
  ended_ = SnapshotEnd{history, bookmark.live_count, counted, {}, bookmark.quiet};
  // A clean close may come from a peer that has not named a version yet.
  if (bookmark.live_count || bookmark.at.version) ended_->reach(bookmark.at);
}

void Departures::close() {
  ended_.reset();
  judged_.reset();
}

Departures::Judgement Departures::judge(const RecordTable& desired, const PruneRules& rules) {
  const SnapshotEnd end = *std::exchange(ended_, std::nullopt);
  if (end.live_count) judged_ = end;
  const bool proves_nothing = end.proves_nothing(rules);
  unnamed_are_deleted_ = !proves_nothing && end.whole();
  arrivals_removed_ = 0;
  Judgement out;
  out.as_of = end.at_version.value_or(Version());
  std::vector<Candidate> candidates;
  desired.each([&](const RecordEntry& entry) {
    if (desired.named_now(entry)) return;
    if (proves_nothing && entry.intent != Intent::unknown) return;
    out.settled.push_back(entry.number);
    if (entry.intent == Intent::orphan)
      return;  // until the store names it again or a person removes it
    if (auto c = candidate(entry)) {
      candidates.push_back(std::move(*c));
    } else if (entry.intent != Intent::unknown) {
      out.released.push_back(entry.number);
    }
  });
  out.candidates = candidates.size();
  out.decision = prune(end, candidates, rules);
  return out;
}

std::optional<Departures::Judgement> Departures::judge_again(const RecordTable& desired,
                                                             const PruneRules& rules) {
  if (!judged_) return std::nullopt;
  ended_ = judged_;
  return judge(desired, rules);
}

// Whatever is in doubt, and more than a few records at once, as a restored backup of the cluster
// brings, waits for judge_again, which judges all together.
std::optional<Departures::Judgement> Departures::judge_arrivals(const RecordTable& desired,
                                                                const PruneRules& rules) {
  if (!judged_ || !judged_->whole()) return std::nullopt;
  std::vector<Candidate> deleted;
  desired.each([&](const RecordEntry& entry) {
    if (entry.intent != Intent::unknown || desired.named_now(entry)) return;
    auto c = candidate(entry);
    if (c && lost(*judged_, *c).empty()) deleted.push_back(std::move(*c));
  });
  if (arrivals_removed_ + deleted.size() > rules.always_allowed) return std::nullopt;
  arrivals_removed_ += deleted.size();
  Judgement out;
  out.as_of = judged_->at_version.value_or(Version());
  out.candidates = deleted.size();
  out.decision = prune(*judged_, deleted, rules);
  return out;
}

// A record that the snapshot did not name, if the cluster has objects with our stamps for it.
std::optional<Candidate> Departures::candidate(const RecordEntry& entry) const {
  Candidate out{entry.number, {}, true, false};
  bool ours = false;
  for (const ObservedObject* o : entry.objects) {
    if (o->foreign || !owned_[o->watch]) continue;
    boost::system::error_code bad;
    const json::value object = json::parse(*o->text, bad);
    if (bad || !object.is_object()) continue;
    const Meta meta = meta_of(object.get_object());
    if (meta.region.empty()) continue;
    ours = true;
    if (!meta.id.empty()) out.made_of.push_back(meta.made_of);
    out.proven_deleted = out.proven_deleted && deleted_since(entry, meta);
    out.disputed =
        out.disputed || (!meta.record.empty() && meta.record != entry.ns + "/" + entry.name);
  }
  if (!ours) return std::nullopt;
  return out;
}

// Whether the snapshot has named the tombstone of the record that the object was made of. A
// tombstone has no name when another record has taken the name.
bool Departures::deleted_since(const RecordEntry& entry, const Meta& meta) const {
  const auto deleted_as = [&](const std::string& name) {
    const auto it = tombstones_.find({name, meta.id});
    return it != tombstones_.end() && it->second > meta.made_of.version;
  };
  return !meta.id.empty() && (deleted_as(entry.ns + "/" + entry.name) || deleted_as("/"));
}

std::string Departures::id_in_stamps(const RecordEntry& entry) {
  for (const ObservedObject* o : entry.objects) {
    if (o->foreign) continue;
    boost::system::error_code bad;
    const json::value object = json::parse(*o->text, bad);
    if (bad || !object.is_object()) continue;
    if (std::string id = meta_of(object.get_object()).id; !id.empty()) return id;
  }
  return {};
}

Departures::Findings Departures::confirm(RecordTable& desired) {
  Findings out;
  std::optional<Heirs> heirs;
  for (GoneRecord& record : std::exchange(deleted_, {})) {
    RecordEntry* entry =
        record.name.empty() ? desired.of_record(record.id) : desired.find(record.ns, record.name);
    // The objects' stamps had lost the id.
    if (entry != nullptr && entry->id.empty()) desired.identify(*entry, record.id);
    if (entry != nullptr && entry->id == record.id && !left_behind(*entry)) continue;
    RecordEntry* heir = nullptr;
    if (record.name.empty()) {
      if (!heirs) heirs = heirs_in(desired);
      if (const auto it = heirs->find(record.id); it != heirs->end()) heir = it->second;
    }
    if (heir == nullptr) {
      reported(record);
      out.gone.push_back(std::move(record));
      continue;
    }
    for (RecordEntry::Predecessor& p : heir->predecessors) {
      if (p.id != record.id) continue;
      p.deleted = true;
      p.version = std::max(p.version, record.version);
    }
    if (heir->intent == Intent::apply) out.look_at.push_back(heir->number);
  }
  if (std::exchange(unnamed_are_deleted_, false)) add_unnamed(desired, out);
  return out;
}

// A complete snapshot names every live record. A predecessor that it does not name is deleted, or a
// restored store has lost it. The snapshot names its tombstone only while no agent has reported it
// as gone.
void Departures::add_unnamed(RecordTable& desired, Findings& to) const {
  desired.each([&](RecordEntry& entry) {
    bool news = false;
    for (RecordEntry::Predecessor& p : entry.predecessors) {
      if (p.deleted || desired.lives(p.id)) continue;
      p.deleted = news = true;
      p.version = std::max(p.version, proven_through());
    }
    if (news && entry.intent == Intent::apply) to.look_at.push_back(entry.number);
  });
}

Departures::Heirs Departures::heirs_in(const RecordTable& desired) {
  Heirs out;
  desired.each([&](RecordEntry& entry) {
    for (const RecordEntry::Predecessor& p : entry.predecessors) out[p.id] = &entry;
  });
  return out;
}

std::optional<GoneRecord> Departures::departed(const RecordEntry& entry,
                                               const RecordTable& desired) {
  if (entry.id.empty() || entry.out || desired.lives(entry.id)) return std::nullopt;
  GoneRecord out{entry.id, entry.ns, entry.name, std::max(entry.version, proven_through())};
  reported(out);
  return out;
}

std::vector<GoneRecord> Departures::erased(const RecordEntry& entry, const RecordTable& desired) {
  std::vector<GoneRecord> out;
  for (const RecordEntry::Predecessor& p : entry.predecessors) {
    if (desired.lives(p.id)) continue;
    out.push_back({p.id, entry.ns, entry.name, std::max(p.version, proven_through())});
    reported(out.back());
  }
  return out;
}

std::vector<GoneRecord> Departures::replaced(RecordEntry& entry, const RecordTable& desired) {
  std::vector<GoneRecord> out;
  std::erase_if(entry.predecessors, [&](const RecordEntry::Predecessor& p) {
    if (!p.deleted || desired.lives(p.id)) return false;
    out.push_back({p.id, {}, {}, p.version});
    reported(out.back());
    return true;
  });
  return out;
}

void Departures::reported(GoneRecord record) {
  reported_.push_back(std::move(record));
  if (reported_.size() > reported_max) reported_.pop_front();
}

std::vector<GoneRecord> Departures::to_report_again(const RecordTable& desired) const {
  std::set<std::string> known;
  desired.each([&](const RecordEntry& entry) { known.insert(entry.id); });
  std::vector<GoneRecord> out;
  for (const GoneRecord& record : reported_) {
    if (!known.contains(record.id)) out.push_back(record);
  }
  return out;
}

std::vector<uint64_t> Departures::left(const RecordTable& desired) {
  std::vector<uint64_t> out;
  desired.each([&](const RecordEntry& entry) {
    const bool wanted = entry.intent != Intent::unknown && entry.intent != Intent::orphan;
    if (!wanted && entry.objects.empty() && !entry.out) out.push_back(entry.number);
  });
  return out;
}

}  // namespace davit::applier
