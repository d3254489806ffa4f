// What the store holds, in memory. Every change is an entry of the log, and apply() is the one
// place where entries take effect: it runs when the change is made, and again when the log is read.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "log.hpp"

#include <davit/storage.hpp>

namespace acme {

using namespace davit;

// `hidden`: a deleted record whose name another one has taken (S13). It keeps its name here, and is
// read without it.
struct Stored {
  Record record;
  bool hidden = false;
  Record shown() const {
    Record out = record;
    if (hidden) out.ns.clear(), out.name.clear();
    return out;
  }
};

// A part of the store's history, with the versions where it ended (S10).
struct Link {
  Incarnation incarnation{};
  Version version{}, status_version{};
};

struct Request {
  Version first_version{};
  int64_t at_unix_ms = 0;
};

class State {
 public:
  using Name = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  static Name name_of(const Record& r, const std::string& id) {
    return {r.key.kind, r.key.region, r.name, r.ns, id};
  }

  // False: the entry is of a later version of this plugin, or damaged.
  bool apply(const Log::Entry& e) {
    const std::string& what = e[0];
    if (what == "record" || what == "hidden") {
      auto r = packed::unpack_record(e.at(1));
      if (r.ok()) put({std::move(*r), what == "hidden"});
      return r.ok();
    }
    if (what == "status") {
      auto s = packed::unpack_status(e.at(1));
      if (s.ok()) put(std::move(*s));
      return s.ok();
    }
    if (what == "progress") {
      auto p = packed::unpack_progress(e.at(1));
      if (p.ok()) agents[{p->region, p->agent}] = std::move(*p);
      return p.ok();
    }
    if (what == "forget") return agents.erase({e.at(1), e.at(2)}), true;
    if (what == "request")
      return requests[e.at(1)] = {Version(std::stoull(e.at(2))), std::stoll(e.at(3))}, true;
    if (what == "purge") return purge(Version(std::stoull(e.at(1)))), true;
    if (what != "incarnation") return false;
    if (!chain.empty()) chain.back().version = head, chain.back().status_version = status_head;
    chain.push_back({Incarnation(std::stoull(e.at(1))), {}, {}});
    return true;
  }

  // The records of this name, hidden ones left out. An empty namespace: in any.
  std::vector<const Stored*> named(const Record& r) const {
    std::vector<const Stored*> out;
    for (auto at = names.lower_bound(name_of(r, "")); at != names.end(); ++at) {
      const auto& [kind, region, name, ns, id] = *at;
      if (std::tie(kind, region, name) != std::tie(r.key.kind, r.key.region, r.name)) break;
      if (!r.ns.empty() && ns != r.ns) break;
      out.push_back(&records.at({kind, region, id}));
    }
    return out;
  }

  std::vector<const Stored*> find(const Query& q) const {
    if (q.key.id.empty()) {
      Record like;
      like.key = q.key, like.ns = q.ns, like.name = q.name;
      return named(like);
    }
    const auto at = records.find(q.key);
    return at == records.end() ? std::vector<const Stored*>() : std::vector{&at->second};
  }

  // Whether the position is in this store's history: among records, or among statuses.
  bool knows(Cursor at, bool of_statuses = false) const {
    for (const Link& link : chain) {
      if (link.incarnation != at.incarnation) continue;
      const bool current = &link == &chain.back();
      const Version ended = of_statuses ? link.status_version : link.version;
      return at.version <= (current ? (of_statuses ? status_head : head) : ended);
    }
    return false;
  }

  // Takes a change of a record back.
  void restore(const Key& key, const std::optional<Stored>& before) {
    remove(key);
    if (before) put(*before);
  }

  std::map<Key, Stored> records;
  std::map<Version, Key> versions;  // of the records
  std::set<Name> names;
  std::map<Key, Status> statuses;
  std::map<Version, Key> status_versions;
  std::map<std::pair<std::string, std::string>, Progress> agents;
  std::map<std::string, Request> requests;
  std::vector<Link> chain;
  Version head, status_head, purged;

 private:
  void put(Stored s) {
    const Key key = s.record.key;
    remove(key);
    head = std::max(head, s.record.version);
    versions[s.record.version] = key;
    if (!s.hidden) names.insert(name_of(s.record, key.id));
    records[key] = std::move(s);
  }
  void put(Status s) {
    forget_status(s.key);
    status_head = std::max(status_head, s.status_version);
    status_versions[s.status_version] = s.key;
    statuses[s.key] = std::move(s);
  }
  void remove(const Key& key) {
    const auto at = records.find(key);
    if (at == records.end()) return;
    versions.erase(at->second.record.version);
    names.erase(name_of(at->second.record, key.id));
    records.erase(at);
  }
  void forget_status(const Key& key) {
    const auto at = statuses.find(key);
    if (at == statuses.end()) return;
    status_versions.erase(at->second.status_version);
    statuses.erase(at);
  }
  void purge(Version through) {
    std::vector<Key> dead;
    for (const auto& [version, key] : versions) {
      if (version > through) break;
      if (!records.at(key).record.live) dead.push_back(key);
    }
    for (const Key& key : dead) remove(key), forget_status(key);
    purged = std::max(purged, through);
  }
};

}  // namespace acme
