// A storage that keeps everything in memory and every change in one append-only file. It is small
// enough to be read whole, and keeps each rule of <davit/abi/storage.h>.
//
// One lock is held by each call, so every rule about what is visible together (S1 to S5) holds by
// itself. A change is made in memory, written to the file and synchronised, and only then answered;
// if the file refuses it, it is taken back.
#include <algorithm>
#include <mutex>
#include <random>

#include "state.hpp"

namespace acme {
namespace {

constexpr int64_t requests_kept_ms = 600'000;  // S6: ten minutes or 100,000 versions,
constexpr uint64_t requests_kept = 100'000;    // whichever is longer

bool matches(const Scope& scope, const Key& key) {
  return (scope.kind.empty() || scope.kind == key.kind) &&
         (scope.region.empty() || scope.region == key.region);
}

Error refused(std::string why) {
  return {Code::out_of_range, std::move(why)};
}

Log::Entry entry_of(const Record& r, bool hidden) {
  return {hidden ? "hidden" : "record", packed::pack(r)};
}

class StorageLog {
 public:
  using roles = Roles<storage::Role>;
  static constexpr uint32_t max_concurrency = 4;

  explicit StorageLog(Host host) : host_(host), path_(Settings(host).string("path")) {}

  Result<> start(const Op&) {
    const std::lock_guard lock(mutex_);
    bool known = true;
    auto opened = log_.open(path_, [&](const Log::Entry& e) { known = known && state_.apply(e); });
    if (!opened.ok()) return opened;
    if (!known) return Error{Code::data_loss, path_ + ": has entries that are not known", path_};
    // The file may be an older copy, so each start begins an incarnation. Its number is random: two
    // copies of one file must not begin the same (S10).
    return write({{"incarnation", to_string(draw())}});
  }
  Result<> stop(const Op&) {
    const std::lock_guard lock(mutex_);
    log_.close();
    return {};
  }

  // A batch has 32 bits for its length.
  static storage::Limits limits() {
    storage::Limits out;
    out.record_bytes = 64 << 20, out.group_bytes = out.report_bytes = 512 << 20;
    out.group_records = out.report_statuses = 100'000;
    return out;
  }

  Result<Head> head(const Op&) {
    const std::lock_guard lock(mutex_);
    return now();
  }
  Result<> history(const Op&, const storage::VisitCursor& visit) {
    const std::lock_guard lock(mutex_);
    for (const Link& link : state_.chain) {
      const bool current = &link == &state_.chain.back();
      if (!visit({link.incarnation, current ? state_.head : link.version})) break;
    }
    return {};
  }

  Result<Page> read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    const Version after = q.cursor.version;
    if (after != 0 && !state_.knows(q.cursor)) return refused("a cursor of another history");
    if (after != 0 && std::max(after, q.dead_after) < state_.purged)
      return refused("a cursor below the purge mark");
    Page page{true, after, now()};
    uint64_t bytes = 0, count = 0;
    for (auto at = state_.versions.upper_bound(after); at != state_.versions.end(); ++at) {
      if (auto why = given_up(op, host_.now())) return *why;
      const Stored& s = state_.records.at(at->second);
      if (!matches(q.scope, s.record.key) || left_out(s.record, q)) continue;
      bytes += s.record.payload.size();
      if (count == q.limit || (count > 0 && bytes > q.bytes_max)) return page;
      ++count;
      page.next_version = s.record.version;
      if (!visit(s.shown())) return page;
    }
    page.more = false;
    page.next_version = state_.head;
    return page;
  }

  Result<Head> get(const Op&, const GetRequest& request, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    for (const Query& q : request.queries) {
      for (const Stored* s : state_.find(q))
        if (!visit(s->shown())) return now();
    }
    return now();
  }

  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    std::vector<GroupResult> results;
    {
      const std::lock_guard lock(mutex_);
      if (auto why = given_up(op, host_.now())) return *why;
      Change all;
      const Version before = state_.head;
      for (const Group& group : groups) results.push_back(commit(group, all));
      const auto written = all.batch.empty() ? Result<>() : log_.append(all.batch);
      if (!written.ok()) {
        take_back(all, 0, before);
        for (const auto& id : all.requests) state_.requests.erase(id);
        return written.error();
      }
    }
    hints_.tell(DAVIT_HINT_RECORDS);
    return results;
  }

  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    {
      const std::lock_guard lock(mutex_);
      if (auto why = given_up(op, host_.now())) return *why;
      std::map<Key, Status> taken;  // of one key the newest
      for (const Status& s : statuses) {
        const auto earlier = taken.find(s.key);
        if (takes(s, earlier == taken.end() ? nullptr : &earlier->second)) taken[s.key] = s;
      }
      Log::Batch batch;
      Version version = state_.status_head;
      for (auto& [key, s] : taken) {
        s.status_version = ++version;
        s.observed_incarnation = 0;
        const Record& record = state_.records.at(key).record;
        s.ns = record.ns, s.name = record.name;
        if (s.gone) s.children.clear();
        batch.push_back({"status", packed::pack(s)});
      }
      if (auto written = write(batch); !written.ok()) return written;
    }
    hints_.tell(DAVIT_HINT_STATUSES);
    return {};
  }

  Result<StatusPage> statuses(const Op& op, const StatusRead& q,
                              const storage::VisitStatus& visit) {
    const std::lock_guard lock(mutex_);
    const Version after = q.cursor.version;
    const Incarnation incarnation = state_.chain.back().incarnation;
    if (after != 0 && !state_.knows(q.cursor, true))
      return refused("a cursor of statuses of another history");
    StatusPage page{true, {incarnation, after}, now()};
    uint64_t bytes = 0, count = 0;
    auto at = state_.status_versions.upper_bound(after);
    for (; at != state_.status_versions.end(); ++at) {
      if (auto why = given_up(op, host_.now())) return *why;
      if (!matches(q.scope, at->second)) continue;
      const Status& s = state_.statuses.at(at->second);
      bytes += text_bytes(s);
      if (count == q.limit || (count > 0 && bytes > q.bytes_max)) return page;
      ++count;
      page.next.version = s.status_version;
      if (!visit(s)) return page;
    }
    page.more = false;
    page.next.version = state_.status_head;
    return page;
  }

  Result<> progress(const Op&, const Progress& p) {
    {
      const std::lock_guard lock(mutex_);
      if (auto written = write({{"progress", packed::pack(p)}}); !written.ok()) return written;
    }
    hints_.tell(DAVIT_HINT_AGENTS);
    return {};
  }
  Result<bool> agents(const Op&, const AgentRead& q, const storage::VisitProgress& visit) {
    const std::lock_guard lock(mutex_);
    uint32_t count = 0;
    auto at = state_.agents.upper_bound({q.after_region, q.after_agent});
    for (; at != state_.agents.end(); ++at) {
      if (!q.region.empty() && q.region != at->first.first) continue;
      if (count++ == q.limit || !visit(at->second)) return true;
    }
    return false;
  }

  Result<> maintain(const Op&, const storage::Maintain& m) {
    const std::lock_guard lock(mutex_);
    Log::Batch batch;
    const auto agent = state_.agents.find({m.forget.region, m.forget.agent});
    if (m.forgets() && agent != state_.agents.end() &&
        agent->second.seen_at_unix_ms <= m.forget.seen_at_unix_ms)
      batch.push_back({"forget", m.forget.region, m.forget.agent});
    const Version through = std::min(m.purge_through, state_.head);
    if (m.purge && through > state_.purged) batch.push_back({"purge", to_string(through)});
    std::erase_if(state_.requests, [&](const auto& known) {
      const Request& r = known.second;
      return r.first_version + requests_kept < state_.head &&
             r.at_unix_ms + requests_kept_ms < host_.unix_ms();
    });
    return write(batch);
  }

  davit_storage_watch* watch(storage::Hint hint) { return hints_.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints_.unwatch(watch); }

 private:
  // What one commit has changed in memory so far, and how to take it back.
  struct Change {
    Log::Batch batch;
    std::vector<std::pair<Key, std::optional<Stored>>> before;
    std::vector<std::string> requests;
  };

  // Not of the host's randomness: tests repeat that.
  static Incarnation draw() {
    std::random_device device;
    return Incarnation(uint64_t{device()} << 32 | device() | 1);
  }
  Head now() const {
    return {{state_.chain.back().incarnation, state_.head}, state_.status_head, state_.purged};
  }
  const Stored* find(const Key& key) const {
    const auto at = state_.records.find(key);
    return at == state_.records.end() ? nullptr : &at->second;
  }

  Result<> write(const Log::Batch& batch) {
    if (batch.empty()) return {};
    if (auto written = log_.append(batch); !written.ok()) return written;
    for (const Log::Entry& entry : batch) state_.apply(entry);
    return {};
  }

  bool left_out(const Record& r, const ReadRequest& q) const {
    if (r.live || r.version > q.dead_after) return false;
    const auto s = state_.statuses.find(r.key);
    const bool confirmed =
        s != state_.statuses.end() && s->second.gone && s->second.observed_version >= r.version;
    return !q.lingering || confirmed;
  }

  bool takes(const Status& s, const Status* earlier) const {
    const Stored* const record = find(s.key);
    if (record == nullptr) return false;
    const bool lost = s.observed_version > record->record.version ||
                      (s.observed_incarnation != 0 &&
                       !state_.knows({s.observed_incarnation, s.observed_version}));
    if (lost && !s.gone) return false;
    const auto stored = state_.statuses.find(s.key);
    if (earlier == nullptr && stored != state_.statuses.end()) earlier = &stored->second;
    return earlier == nullptr ||
           std::pair(s.epoch, s.sequence) > std::pair(earlier->epoch, earlier->sequence);
  }

  void change(Change& all, const Record& r, bool hidden) {
    const Stored* const before = find(r.key);
    all.before.emplace_back(r.key, before == nullptr ? std::nullopt : std::optional(*before));
    all.batch.push_back(entry_of(r, hidden));
    state_.apply(all.batch.back());
  }
  void take_back(Change& all, size_t mark, Version head) {
    while (all.before.size() > mark) {
      state_.restore(all.before.back().first, all.before.back().second);
      all.before.pop_back();
    }
    state_.head = head;
  }

  GroupResult commit(const Group& group, Change& all) {
    GroupResult result;
    result.incarnation = state_.chain.back().incarnation;
    std::set<Key> own;
    for (const Mutation& m : group.mutations) own.insert(m.record.key);
    if (own.empty() || own.size() != group.mutations.size()) {
      result.error = Error{Code::invalid_argument, "a group is empty or has a key twice"};
      return result;
    }
    const auto known = state_.requests.find(group.request_id);
    if (known != state_.requests.end()) {
      result.first_version = known->second.first_version;
      return result;
    }
    const size_t mark = all.before.size(), size = all.batch.size();
    const Version before = state_.head;
    free_names(group, own, all);
    result.first_version = state_.head + 1;
    for (const Mutation& m : group.mutations) {
      result.error = mutate(m, group.request_id, all, result.actual_version);
      if (!result.error) continue;
      take_back(all, mark, before);
      all.batch.resize(size);
      return result;
    }
    if (group.request_id.empty()) return result;
    all.batch.push_back({"request", group.request_id, to_string(result.first_version),
                         std::to_string(host_.unix_ms())});
    all.requests.push_back(group.request_id);
    state_.apply(all.batch.back());
    return result;
  }

  // Deleted records whose names the group takes over get new versions, below those of the group.
  void free_names(const Group& group, const std::set<Key>& own, Change& all) {
    for (const Mutation& m : group.mutations) {
      if (!m.record.live) continue;
      for (const Stored* other : state_.named(m.record)) {
        if (other->record.live || own.count(other->record.key) != 0) continue;
        Record hidden = other->record;
        hidden.version = state_.head + 1;
        change(all, hidden, true);
      }
    }
  }

  std::optional<Error> mutate(const Mutation& m, const std::string& request_id, Change& all,
                              Version& actual) {
    Record r = m.record;
    const Stored* const before = find(r.key);
    const Version is = before == nullptr ? Version() : before->record.version;
    const bool lost = m.expect != 0 && m.expect_incarnation != 0 &&
                      !state_.knows({m.expect_incarnation, m.expect});
    if (m.expect != any_version && (m.expect != is || lost)) {
      actual = is;
      return Error{Code::aborted, "the record has another version", r.key.id};
    }
    bool hide = before != nullptr && before->hidden && !r.live;
    if (before != nullptr && !r.live && r.name.empty())
      r.ns = before->record.ns, r.name = before->record.name;
    if (before != nullptr && (r.ns != before->record.ns || r.name != before->record.name))
      return Error{Code::invalid_argument, "a record keeps its namespace and name", r.key.id};
    for (const Stored* other : state_.named(r)) {
      if (other->record.key == r.key) continue;
      if (other->record.live && r.live)
        return Error{Code::already_exists, "another record has the name", other->record.key.id};
      if (other->record.live) hide = true;
      if (!other->record.live && r.live) change(all, other->record, true);
    }
    r.version = state_.head + 1;
    r.committed_at_unix_ms = host_.unix_ms();
    if (r.request_id.empty()) r.request_id = request_id;
    change(all, r, hide);
    return std::nullopt;
  }

  const Host host_;
  const std::string path_;
  std::mutex mutex_;
  Log log_;
  State state_;
  storage::Hints hints_;
};

}  // namespace
}  // namespace acme

DAVIT_PLUGIN(acme::StorageLog, "storage_log", DAVIT_PLUGIN_VERSION,
             "keeps records in memory and in an append-only file")
