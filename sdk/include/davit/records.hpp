// The values of the storage contract in C++: records, groups, statuses, progress. abi/storage.h
// says what each field means. These types own their memory. from_abi() copies; to_abi() and the
// ...View classes borrow from the value.
#pragma once

#include <deque>

#include "number.hpp"
#include "types.hpp"

namespace davit {

struct Key {
  std::string kind, region, id;
  auto operator<=>(const Key&) const = default;
  bool operator==(const Key&) const = default;
};
inline davit_key to_abi(const Key& k) {
  return {str(k.kind), str(k.region), str(k.id)};
}
inline Key from_abi(const davit_key& k) {
  return {text(k.kind), text(k.region), text(k.id)};
}

struct Cursor {
  Incarnation incarnation{};
  Version version{};
  auto operator<=>(const Cursor&) const = default;
  bool operator==(const Cursor&) const = default;
};
inline davit_cursor to_abi(Cursor c) {
  return {c.incarnation.value(), c.version.value()};
}
inline Cursor from_abi(davit_cursor c) {
  return {Incarnation(c.incarnation), Version(c.version)};
}

// A store's history: each incarnation with the version where it ended, the oldest first.
using History = std::vector<Cursor>;
// Whether the history contains the position `at`. Otherwise the store has lost that version.
inline bool knows(const History& history, Cursor at) {
  return std::any_of(history.begin(), history.end(), [at](Cursor link) {
    return link.incarnation == at.incarnation && at.version <= link.version;
  });
}

struct Record {
  Key key;
  std::string ns, name, state;
  Version version{};
  bool live = true;
  std::string payload, json;
  int64_t committed_at_unix_ms = 0;
  std::string author, request_id;
  Pairs annotations;
};

inline Record from_abi(const davit_record& r) {
  Record out;
  out.key = from_abi(r.key);
  out.ns = text(r.ns);
  out.name = text(r.name);
  out.state = text(r.state);
  out.version = Version(r.version);
  out.live = (r.flags & DAVIT_RECORD_LIVE) != 0;
  out.payload = std::string(view(r.payload));
  out.json = text(r.json);
  out.committed_at_unix_ms = r.committed_at_unix_ms;
  out.author = text(r.author);
  out.request_id = text(r.request_id);
  out.annotations = from_abi(r.annotations, r.annotations_count);
  return out;
}

// A record in ABI form; borrows from the Record.
struct RecordView {
  std::vector<davit_pair> annotations;
  davit_record abi;

  explicit RecordView(const Record& r) : annotations(to_abi(r.annotations)) {
    std::memset(&abi, 0, sizeof abi);
    abi.struct_size = sizeof abi;
    abi.flags = r.live ? DAVIT_RECORD_LIVE : 0;
    abi.key = to_abi(r.key);
    abi.ns = str(r.ns);
    abi.name = str(r.name);
    abi.state = str(r.state);
    abi.version = r.version.value();
    abi.payload = bytes(r.payload);
    abi.json = str(r.json);
    abi.committed_at_unix_ms = r.committed_at_unix_ms;
    abi.author = str(r.author);
    abi.request_id = str(r.request_id);
    abi.annotations = annotations.data();
    abi.annotations_count = annotations.size();
  }
  RecordView(const RecordView&) = delete;
  RecordView& operator=(const RecordView&) = delete;
};

// As the version that a writer expects a record to have: any will do.
inline constexpr Version any_version{DAVIT_EXPECT_ANY};

struct Mutation {
  Record record;
  Version expect = any_version;
  Incarnation expect_incarnation{};  // in which `expect` was read; 0: not known
};

struct Group {
  std::vector<Mutation> mutations;
  std::string request_id{};
  uint64_t intent = 0;  // that it carries out; 0: none
};

inline Group from_abi(const davit_group& g) {
  Group out{{}, text(g.request_id)};
  if (DAVIT_HAS(&g, intent)) out.intent = g.intent;
  for (uint32_t i = 0; i < g.mutations_count; ++i) {
    const davit_mutation& m = *g.mutations[i];
    out.mutations.push_back(
        {from_abi(*m.record), Version(m.expect),
         DAVIT_HAS(&m, expect_incarnation) ? Incarnation(m.expect_incarnation) : Incarnation()});
  }
  return out;
}

// A group in ABI form; borrows from the Group.
struct GroupView {
  std::deque<RecordView> records;
  std::vector<davit_mutation> mutations;
  std::vector<const davit_mutation*> pointers;
  davit_group abi{};

  explicit GroupView(const Group& g) {
    mutations.reserve(g.mutations.size());
    for (const auto& m : g.mutations) {
      records.emplace_back(m.record);
      mutations.push_back({sizeof(davit_mutation), 0, &records.back().abi, m.expect.value(),
                           m.expect_incarnation.value()});
    }
    for (const auto& m : mutations) pointers.push_back(&m);
    abi.struct_size = sizeof abi;
    abi.mutations_count = static_cast<uint32_t>(pointers.size());
    abi.mutations = pointers.data();
    abi.request_id = str(g.request_id);
    abi.intent = g.intent;
  }
  GroupView(const GroupView&) = delete;
  GroupView& operator=(const GroupView&) = delete;
};

struct GroupResult {
  Incarnation incarnation{};   // of the versions
  Version first_version{};     // mutation i has first_version + i
  Version actual_version{};    // with ABORTED: the version that the record has
  std::optional<Error> error;  // empty: the group is committed
};

inline GroupResult from_abi(const davit_group_result& r) {
  GroupResult out{Incarnation(r.incarnation), Version(r.first_version), Version(r.actual_version),
                  std::nullopt};
  if (r.error.code != DAVIT_OK) out.error = take(r.error, r.error.code);
  return out;
}
inline davit_group_result to_abi(const GroupResult& r) {
  davit_group_result out{
      sizeof out, 0, r.incarnation.value(), r.first_version.value(), r.actual_version.value(), {}};
  if (r.error) fill(&out.error, *r.error);
  return out;
}

struct Head {
  Cursor head;
  Version status_head{};
  Version purged_through{};
};
inline davit_head to_abi(const Head& h) {
  return {sizeof(davit_head), 0, to_abi(h.head), h.status_head.value(), h.purged_through.value()};
}
inline Head from_abi(const davit_head& h) {
  return {from_abi(h.head), Version(h.status_head), Version(h.purged_through)};
}

struct Child {
  std::string name, address, status;
  int64_t cpu_millicores = 0, memory_mib = 0;
  bool operator==(const Child&) const = default;
};

struct Status {
  Key key;
  bool gone = false;
  Version observed_version{};
  Incarnation observed_incarnation{};  // stores do not keep it
  std::string health;
  int64_t desired = 0, updated = 0, ready = 0, stale = 0;
  std::string message, parked;
  std::vector<Child> children;
  std::string detail;
  Epoch epoch{};
  uint64_t sequence = 0;
  Version status_version{};
  int64_t reported_at_unix_ms = 0;
  std::string ns, name;  // the record's, for peers that know no ids; may be empty
};

inline Status from_abi(const davit_status& s) {
  Status out;
  out.key = from_abi(s.key);
  out.gone = (s.flags & DAVIT_STATUS_GONE) != 0;
  out.observed_version = Version(s.observed_version);
  out.health = text(s.health);
  out.desired = s.desired;
  out.updated = s.updated;
  out.ready = s.ready;
  out.stale = s.stale;
  out.message = text(s.message);
  out.parked = text(s.parked);
  for (size_t i = 0; i < s.children_count; ++i) {
    const davit_child& c = *s.children[i];
    out.children.push_back(
        {text(c.name), text(c.address), text(c.status), c.cpu_millicores, c.memory_mib});
  }
  out.detail = text(s.detail);
  out.epoch = Epoch(s.epoch);
  out.sequence = s.sequence;
  out.status_version = Version(s.status_version);
  out.reported_at_unix_ms = s.reported_at_unix_ms;
  out.ns = text(s.ns);
  out.name = text(s.name);
  out.observed_incarnation = Incarnation(s.observed_incarnation);
  return out;
}

// A status in ABI form; borrows from the Status.
struct StatusView {
  std::vector<davit_child> children;
  std::vector<const davit_child*> pointers;
  davit_status abi;

  explicit StatusView(const Status& s) {
    std::memset(&abi, 0, sizeof abi);
    children.reserve(s.children.size());
    for (const auto& c : s.children) {
      children.push_back({sizeof(davit_child), 0, str(c.name), str(c.address), str(c.status),
                          c.cpu_millicores, c.memory_mib});
    }
    for (const auto& c : children) pointers.push_back(&c);
    abi.struct_size = sizeof abi;
    abi.flags = s.gone ? DAVIT_STATUS_GONE : 0;
    abi.key = to_abi(s.key);
    abi.observed_version = s.observed_version.value();
    abi.health = str(s.health);
    abi.desired = s.desired;
    abi.updated = s.updated;
    abi.ready = s.ready;
    abi.stale = s.stale;
    abi.message = str(s.message);
    abi.parked = str(s.parked);
    abi.children = pointers.data();
    abi.children_count = pointers.size();
    abi.detail = str(s.detail);
    abi.epoch = s.epoch.value();
    abi.sequence = s.sequence;
    abi.status_version = s.status_version.value();
    abi.reported_at_unix_ms = s.reported_at_unix_ms;
    abi.ns = str(s.ns);
    abi.name = str(s.name);
    abi.observed_incarnation = s.observed_incarnation.value();
  }
  StatusView(const StatusView&) = delete;
  StatusView& operator=(const StatusView&) = delete;
};

// What davit_status_read::bytes_max counts.
inline uint64_t text_bytes(const Status& s) {
  uint64_t out = s.message.size() + s.parked.size() + s.detail.size();
  for (const Child& c : s.children) out += c.name.size() + c.address.size() + c.status.size();
  return out;
}

struct Issue {
  std::string kind, id, ns, name;
  Version version{};
  std::string condition, reason;  // condition: DAVIT_ISSUE_...; empty = the issue has ended
  Incarnation incarnation{};      // in which the version was read; 0: not known
};
inline Issue from_abi(const davit_issue& i) {
  return {text(i.kind),       text(i.id),        text(i.ns),     text(i.name),
          Version(i.version), text(i.condition), text(i.reason), Incarnation(i.incarnation)};
}
inline davit_issue to_abi(const Issue& i) {
  return {sizeof(davit_issue), 0,
          str(i.kind),         str(i.id),
          str(i.ns),           str(i.name),
          i.version.value(),   i.incarnation.value(),
          str(i.condition),    str(i.reason)};
}

struct KindProgress {
  std::string kind;
  Cursor applied;
};
inline KindProgress from_abi(const davit_kind_progress& p) {
  return {text(p.kind), from_abi(p.applied)};
}
inline davit_kind_progress to_abi(const KindProgress& p) {
  return {sizeof(davit_kind_progress), 0, str(p.kind), to_abi(p.applied)};
}

struct Progress {
  std::string region, agent, software;
  Epoch epoch{};
  std::vector<KindProgress> kinds;
  std::vector<Issue> issues;
  int64_t seen_at_unix_ms = 0;
  uint64_t sequence = 0;  // orders what one agent says in one epoch; stores do not keep it
};

inline Progress from_abi(const davit_progress& p) {
  Progress out{text(p.region),   text(p.agent), text(p.software), Epoch(p.epoch), {}, {},
               p.seen_at_unix_ms};
  for (size_t i = 0; i < p.kinds_count; ++i) out.kinds.push_back(from_abi(*p.kinds[i]));
  for (size_t i = 0; i < p.issues_count; ++i) out.issues.push_back(from_abi(*p.issues[i]));
  return out;
}

// A progress in ABI form; borrows from the Progress.
struct ProgressView {
  std::vector<davit_kind_progress> kinds;
  std::vector<const davit_kind_progress*> kind_pointers;
  std::vector<davit_issue> issues;
  std::vector<const davit_issue*> issue_pointers;
  davit_progress abi;

  explicit ProgressView(const Progress& p) {
    std::memset(&abi, 0, sizeof abi);
    for (const auto& k : p.kinds) kinds.push_back(to_abi(k));
    for (const auto& k : kinds) kind_pointers.push_back(&k);
    for (const auto& i : p.issues) issues.push_back(to_abi(i));
    for (const auto& i : issues) issue_pointers.push_back(&i);
    abi.struct_size = sizeof abi;
    abi.region = str(p.region);
    abi.agent = str(p.agent);
    abi.software = str(p.software);
    abi.epoch = p.epoch.value();
    abi.kinds = kind_pointers.data();
    abi.kinds_count = kind_pointers.size();
    abi.issues = issue_pointers.data();
    abi.issues_count = issue_pointers.size();
    abi.seen_at_unix_ms = p.seen_at_unix_ms;
  }
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;
};

}  // namespace davit
