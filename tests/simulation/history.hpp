// Everything that was ever committed, as the store itself said it: what the judge compares with.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <davit/records.hpp>

namespace davit::simulation {

// A record's name in the cluster. Names are what objects are known by, and what two records may
// follow each other on. Regions have the same ones.
struct Name {
  std::string kind, ns, name;
  std::string region = "eu";
  auto operator<=>(const Name&) const = default;
};

inline std::string display(const Name& n) {
  return n.kind + " " + n.ns + "/" + n.name + (n.region == "eu" ? "" : " of " + n.region);
}

struct Written {
  Version version{};
  std::string id;
  bool live = false, held = false;
  std::string spec;  // JSON
  bool operator==(const Written&) const = default;
};

class History {
 public:
  void committed(const Group& group, Version first_version) {
    if (!group.request_id.empty() &&
        requests_.emplace(group.request_id, first_version).first->second != first_version) {
      twice_ = group.request_id;
    }
    if (!seen_.contains(first_version)) free_names(group, first_version);
    Version version = first_version;
    for (const auto& m : group.mutations) {
      const Record& r = m.record;
      Name& name = names_[r.key];
      if (!r.name.empty()) name = {r.key.kind, r.ns, r.name, r.key.region};
      const bool held = std::any_of(r.annotations.begin(), r.annotations.end(), [](const auto& a) {
        return a.first == "davit.dev/pause" && a.second == "true";
      });
      // A repeated request is answered with what it did the first time.
      if (seen_.insert(version).second) {
        check_expectation(m, version);
        last_[r.key] = {version, r.live};
        // One that was purged begins a new life.
        if (r.live || !m.expect) nameless_.erase(r.key);
        if (!r.live && is_taken(name)) nameless_.insert(r.key);
        written_[name].push_back(
            {version, r.key.id, r.live && r.state != "archived", held, r.json});
      }
      ++version;
    }
  }

  // The store was opened, and calls its past so; it was closed for good.
  void opened(davit::History chain) {
    chain_ = std::move(chain);
    open_ = true;
  }
  void closed() {
    if (std::exchange(open_, false)) chain_.back().version = head();
  }
  // Whether what was made of a record at this place was made of one of these. A peer without
  // bookmarks names no incarnation.
  bool has(Cursor at) const {
    return at.incarnation == 0 || davit::knows(chain_, at) ||
           (open_ && at.incarnation == chain_.back().incarnation);
  }

  std::set<Incarnation> incarnations() const {
    std::set<Incarnation> out;
    for (const Cursor& link : chain_) out.insert(link.incarnation);
    return out;
  }

  const std::map<Name, std::vector<Written>>& all() const { return written_; }
  Version head() const { return seen_.empty() ? Version() : *seen_.rbegin(); }
  // Whether anything was ever committed with this version.
  bool seen(Version version) const { return seen_.contains(version); }
  // A request that changed something, and then something else.
  const std::string& twice() const { return twice_; }
  // A change that was judged by a version of its record that was no longer the last.
  const std::string& unexpected() const { return unexpected_; }
  // What an object can have been made of.
  const Written* find(const Name& name, const std::string& id, Cursor made_of) const {
    const auto it = written_.find(name);
    if (it == written_.end() || !has(made_of)) return nullptr;
    for (const auto& w : it->second) {
      if (w.live && w.id == id && w.version == made_of.version) return &w;
    }
    return nullptr;
  }
  // What the name stands for now: the record that lives under it, else the one that did so last.
  // Another that died since does not have it any more.
  static const Written& now(const std::vector<Written>& writes) {
    std::map<std::string, const Written*> last;
    for (const auto& w : writes) last[w.id] = &w;
    for (const auto& [id, w] : last) {
      if (w->live) return *w;
    }
    const auto lived =
        std::find_if(writes.rbegin(), writes.rend(), [](const auto& w) { return w.live; });
    return lived == writes.rend() ? writes.back() : *last[lived->id];
  }
  // Whether the record was dead at some time after this version.
  bool died_after(const Name& name, const std::string& id, Version version) const {
    const auto it = written_.find(name);
    if (it == written_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](const Written& w) {
      return !w.live && w.id == id && w.version > version;
    });
  }

 private:
  bool is_taken(const Name& name) const {
    return std::any_of(last_.begin(), last_.end(), [&](const auto& last) {
      return last.second.second && names_.at(last.first) == name;
    });
  }
  // Those whose names the group takes over have got new versions, below those of the group.
  void free_names(const Group& group, Version first_version) {
    std::set<Key> own;
    for (const auto& m : group.mutations) own.insert(m.record.key);
    std::vector<std::pair<Version, Key>> freed;
    for (const auto& m : group.mutations) {
      const auto first = static_cast<std::ptrdiff_t>(freed.size());
      const Record& r = m.record;
      if (!r.live || r.name.empty()) continue;
      for (const auto& [key, last] : last_) {
        if (last.second || own.contains(key)) continue;
        if (names_[key] != Name{r.key.kind, r.ns, r.name, r.key.region}) continue;
        if (nameless_.insert(key).second) freed.emplace_back(last.first, key);
      }
      std::sort(freed.begin() + first, freed.end());
    }
    Version version = first_version - freed.size();
    for (const auto& [before, key] : freed) {
      last_[key].first = version;
      seen_.insert(version++);
    }
  }

  void check_expectation(const Mutation& m, Version version) {
    if (m.expect == any_version) {
      unexpected_ = m.record.key.kind + " " + m.record.key.id + " @" + to_string(version) +
                    " was changed whatever there was";
      return;
    }
    const auto last = last_.find(m.record.key);
    const bool none = last == last_.end() || !last->second.second;
    if (m.expect == 0 ? none : last != last_.end() && last->second.first == m.expect) return;
    unexpected_ = m.record.key.kind + " " + m.record.key.id + " @" + to_string(version) +
                  " expected " + to_string(m.expect) + ", and there was " +
                  (last == last_.end() ? "none" : to_string(last->second.first));
  }

  std::map<Key, Name> names_;
  std::set<Key> nameless_;  // deleted, and their names are others'
  std::map<Name, std::vector<Written>> written_;
  std::set<Version> seen_;
  std::map<std::string, Version> requests_;
  std::string twice_, unexpected_;
  std::map<Key, std::pair<Version, bool>> last_;  // version, and whether it lives
  davit::History chain_;
  bool open_ = false;
};

}  // namespace davit::simulation
