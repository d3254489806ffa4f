#include "commit_plan.hpp"

#include "davit/storage_groups.hpp"

namespace davit::storage_postgres {

CommitPlan::Name CommitPlan::name_of(const Key& key, const std::string& ns,
                                     const std::string& name) {
  return {key.kind, key.region, ns, name};
}

CommitPlan::CommitPlan(Concerned before, const storage::Chain& chain, Cursor head)
    : requests_(std::move(before.requests)),
      intents_(std::move(before.intents)),
      chain_(chain),
      incarnation_(head.incarnation),
      first_head_(head.version),
      next_(head.version.next()) {
  for (auto& [key, row] : before.records) {
    if (!row.name.empty()) names_[name_of(key, row.ns, row.name)].insert(key);
    entries_[key].row = std::move(row);
  }
}

GroupResult CommitPlan::apply(const Group& group) {
  GroupResult result;
  result.incarnation = incarnation_;
  result.error = storage::malformed(group);
  if (result.error) return result;
  if (const auto first = repeated(group.request_id, result.error)) {
    result.first_version = *first;
    return result;
  }
  if (!result.error && group.intent != 0 && !intents_.ours.contains(group.intent)) {
    result.error = intents_.others.contains(group.intent) ? storage::busy(group.intent)
                                                          : storage::not_open(group.intent);
  }
  if (result.error) return result;
  const Version before = next_;
  undo_.clear();
  free_names(group);
  result.first_version = next_;
  for (const auto& m : group.mutations) {
    result.error = mutate(m, group.request_id, next_, result.actual_version);
    if (result.error) break;
    ++next_;
  }
  if (result.error) {
    undo();
    next_ = before;
    result.first_version = {};
  } else {
    keep(group, result.first_version);
  }
  return result;
}

// What else is written of a group that is committed.
void CommitPlan::keep(const Group& group, Version first) {
  if (!group.request_id.empty()) {
    requests_.emplace(group.request_id, first);
    new_requests_.emplace_back(group.request_id, first);
  }
  if (intents_.ours.erase(group.intent) != 0) carried_out_.push_back({group.intent, next_ - 1});
}

std::optional<Version> CommitPlan::repeated(const std::string& request_id,
                                            std::optional<Error>& error) const {
  if (request_id.empty()) return std::nullopt;
  if (const auto same = requests_.find(request_id); same != requests_.end()) return same->second;
  const size_t newline = request_id.rfind('\n');
  if (newline == std::string::npos) return std::nullopt;
  const std::string id = request_id.substr(0, newline + 1);
  const auto other = requests_.lower_bound(id);
  if (other != requests_.end() && other->first.starts_with(id)) error = storage::request_reused();
  return std::nullopt;
}

// The entry, so that the group's failure can undo what becomes of it.
CommitPlan::Entry& CommitPlan::change(const Key& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    undo_.emplace_back(key, found->second);
    return found->second;
  }
  undo_.emplace_back(key, std::nullopt);
  return entries_[key];
}

void CommitPlan::undo() {
  for (; !undo_.empty(); undo_.pop_back()) {
    auto& [key, before] = undo_.back();
    if (before) {
      entries_[key] = std::move(*before);
    } else {
      entries_.erase(key);
    }
  }
}

// A record changes only with a new version. So deleted records whose names the group takes over get
// theirs first. Those that the group itself writes have one already.
void CommitPlan::free_names(const Group& group) {
  std::set<Key> own;
  for (const auto& m : group.mutations) own.insert(m.record.key);
  for (const auto& m : group.mutations) {
    const Record& r = m.record;
    if (!r.live || r.name.empty()) continue;
    std::map<Version, Key> dead;
    const auto named = names_.find(name_of(r.key, r.ns, r.name));
    if (named == names_.end()) continue;
    for (const Key& key : named->second) {
      const auto found = entries_.find(key);
      if (found == entries_.end() || own.contains(key)) continue;
      const StoredRecord& row = found->second.row;
      if (!row.live && !row.name_taken) dead.emplace(row.version, key);
    }
    for (const auto& [version, key] : dead) {
      Entry& entry = change(key);
      entry.row.version = next_++;
      entry.row.name_taken = entry.changed = true;
    }
  }
}

std::optional<Error> CommitPlan::mutate(const Mutation& m, const std::string& request_id,
                                        Version version, Version& actual) {
  const Record& r = m.record;
  const auto found = entries_.find(r.key);
  const StoredRecord before = found == entries_.end() ? StoredRecord() : found->second.row;
  if (auto error = storage::unmet(m, before.version, chain_, first_head_)) {
    actual = before.version;
    return error;
  }
  if (auto error = storage::renamed(r, before.ns, before.name)) return error;
  bool name_taken = before.version ? before.name_taken : r.name.empty();
  // A live record keeps its name, and a deleted record that stays deleted claims none.
  if ((r.live && !before.live) || !before.version) {
    if (auto error = take_name(r, name_taken)) return error;
  }
  // Once given, a name stays in the row, even if a mutation of the deleted record omits it.
  Entry& entry = change(r.key);
  if (before.name.empty()) {
    entry.row.ns = r.ns;
    entry.row.name = r.name;
    if (!r.name.empty()) names_[name_of(r.key, r.ns, r.name)].insert(r.key);
  }
  entry.row.version = version;
  entry.row.live = r.live;
  entry.row.name_taken = name_taken && !r.live;
  entry.record = &r;
  entry.request_id = r.request_id.empty() ? request_id : r.request_id;
  entry.changed = true;
  return std::nullopt;
}

// `taken` becomes true for a deleted record whose name a live record holds.
std::optional<Error> CommitPlan::take_name(const Record& r, bool& taken) {
  if (r.name.empty()) return std::nullopt;
  const auto named = names_.find(name_of(r.key, r.ns, r.name));
  for (const Key& key : named == names_.end() ? std::set<Key>() : named->second) {
    const auto found = entries_.find(key);
    if (key == r.key || found == entries_.end() || found->second.row.name_taken) continue;
    if (found->second.row.live) {
      taken = true;
      if (!r.live) return std::nullopt;
      return storage::name_taken(r, key.id);
    }
    if (r.live) change(key).row.name_taken = true;  // of this group, see free_names
  }
  taken = false;
  return std::nullopt;
}

std::vector<CommitPlan::Write> CommitPlan::writes() const {
  std::map<Version, Write> ordered;
  for (const auto& [key, entry] : entries_) {
    if (entry.changed)
      ordered.emplace(entry.row.version, Write{entry.record, key, entry.row, entry.request_id});
  }
  std::vector<Write> out;
  out.reserve(ordered.size());
  for (auto& [version, write] : ordered) out.push_back(std::move(write));
  return out;
}

}  // namespace davit::storage_postgres
