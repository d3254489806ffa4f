// Everything that was ever committed, as the store itself said it: what the judge compares with.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <davit/records.hpp>

namespace davit::simulation {

// A record's name in the cluster. Names are what objects are known by, and what two records may
// follow each other on.
struct Name {
  std::string kind, ns, name;
  auto operator<=>(const Name&) const = default;
};

inline std::string display(const Name& n) {
  return n.kind + " " + n.ns + "/" + n.name;
}

struct Written {
  uint64_t version = 0;
  std::string id;
  bool live = false, held = false;
  std::string spec;  // JSON
};

class History {
 public:
  void committed(const Group& group, uint64_t first_version) {
    uint64_t version = first_version;
    for (const auto& m : group.mutations) {
      const Record& r = m.record;
      Name& name = names_[{r.key.kind, r.key.id}];
      if (!r.name.empty()) name = {r.key.kind, r.ns, r.name};
      const bool held = std::any_of(r.annotations.begin(), r.annotations.end(), [](const auto& a) {
        return a.first == "davit.dev/pause" && a.second == "true";
      });
      // A repeated request is answered with what it did the first time.
      if (seen_.insert(version).second)
        written_[name].push_back(
            {version, r.key.id, r.live && r.state != "archived", held, r.json});
      ++version;
    }
  }

  const std::map<Name, std::vector<Written>>& all() const { return written_; }
  // What the name stands for now: the record that lives under it, else the one that died last.
  static const Written& now(const std::vector<Written>& writes) {
    std::map<std::string, const Written*> last;
    for (const auto& w : writes) last[w.id] = &w;
    for (const auto& [id, w] : last) {
      if (w->live) return *w;
    }
    return writes.back();
  }
  // Whether the record was dead at some time after this version.
  bool died_after(const Name& name, const std::string& id, uint64_t version) const {
    const auto it = written_.find(name);
    if (it == written_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(), [&](const Written& w) {
      return !w.live && w.id == id && w.version > version;
    });
  }

 private:
  std::map<std::pair<std::string, std::string>, Name> names_;  // of a kind and id
  std::map<Name, std::vector<Written>> written_;
  std::set<uint64_t> seen_;
};

}  // namespace davit::simulation
