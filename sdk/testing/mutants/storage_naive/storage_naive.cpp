// A storage backend in a few maps, for the tests of the storage suite. Without the setting `fault`
// it keeps the contract, and the suite must pass. Each value of the setting breaks one rule in a
// way that real backends do, and the suite must fail exactly there. faults.hpp lists the values.
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "faults.hpp"
#include "faulty_hints.hpp"
#include "own_table.hpp"

namespace davit::storage_naive {

using Names =
    std::tuple<std::string, std::string, std::string, std::string>;  // kind, region, ns, name

class StorageNaive {
 public:
  using roles = Roles<OwnTable>;
  static constexpr uint32_t max_concurrency = 8;
  static storage::Limits limits() { return {}; }

  explicit StorageNaive(Host host) : host_(host), fault_(Settings(host).string("fault", "")) {
    if (faults().count(fault_) == 0) Settings(host).reject("fault", "is not one of the faults");
    incarnation_ = host_.random() | 1;
  }

  const std::string& fault() const { return fault_; }

  Result<Head> head(const Op&) {
    const std::lock_guard lock(mutex_);
    return now();
  }

  Result<> history(const Op&, const storage::VisitCursor& visit) {
    const std::lock_guard lock(mutex_);
    // UINT64_MAX: a version that the store has not given yet.
    visit({incarnation_, fault_ == "any_history" ? UINT64_MAX : head_});
    return {};
  }

  Result<Page> read(const Op&, const ReadRequest& q, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    if (fault_ == "reads_nothing") return Page{false, head_, now()};
    if (fault_ != "any_cursor" && q.cursor.version != 0 &&
        (q.cursor.incarnation != incarnation_ || q.cursor.version > head_)) {
      return Error{Code::out_of_range, "no such cursor", {}, {}};
    }
    if (fault_ != "no_purge_mark" && q.cursor.version != 0 &&
        std::max(q.cursor.version, q.dead_after) < purged_) {
      return Error{Code::out_of_range, "below the purge mark", {}, {}};
    }
    Page page{false, q.cursor.version, now()};
    uint64_t bytes = 0, count = 0;
    for (auto at = versions_.upper_bound(q.cursor.version); at != versions_.end(); ++at) {
      const Record& r = records_.at(at->second);
      if (!q.scope.kind.empty() && q.scope.kind != r.key.kind) continue;
      if (!q.scope.region.empty() && q.scope.region != r.key.region) continue;
      if (!r.live && r.version <= q.dead_after && !(q.lingering && lingers(r))) continue;
      bytes += r.payload.size();
      const bool full = fault_ != "whole_pages" && count > 0 && bytes > q.bytes_max;
      page.more = count == q.limit || full;
      if (page.more) return page;
      ++count;
      page.next_version = r.version;
      if (!visit(shown(r))) {
        page.more = fault_ != "forgets_the_visitor";
        return page;
      }
    }
    page.next_version = head_;
    return page;
  }

  Result<Head> get(const Op&, const Query& q, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, r] : records_) {
      if (key.kind != q.key.kind || key.region != q.key.region) continue;
      const bool named = hidden_.count(key) == 0 && r.name == q.name &&
                         (q.ns.empty() || r.ns == q.ns) && (r.live || fault_ != "finds_the_live");
      if (q.key.id.empty() ? !named : key.id != q.key.id) continue;
      if (!visit(shown(r))) break;
    }
    for (const Record& r : purged_names_) {
      if (q.key.id.empty() && r.name == q.name && (q.ns.empty() || r.ns == q.ns)) visit(r);
    }
    return now();
  }

  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>& groups) {
    std::vector<GroupResult> results;
    for (const auto& group : groups) results.push_back(commit(group));
    hints_.tell(DAVIT_HINT_RECORDS);
    return results;
  }

  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    for (const auto& s : statuses) {
      uint64_t number = 0;
      if (fault_ == "late") {
        number = ++given_status_;
        dither();
      }
      const std::lock_guard lock(mutex_);
      const auto record = records_.find(s.key);
      if (record == records_.end()) continue;
      if (s.observed_version > record->second.version && !s.gone && fault_ != "takes_lost_status")
        continue;
      if (s.observed_incarnation != 0 && s.observed_incarnation != incarnation_ && !s.gone &&
          fault_ != "takes_foreign_status")
        continue;
      const auto old = statuses_.find(s.key);
      if (old != statuses_.end()) {
        const auto& before = old->second;
        if (fault_ != "takes_old_status" &&
            std::pair(s.epoch, s.sequence) <= std::pair(before.epoch, before.sequence)) {
          continue;
        }
      }
      Status stored = s;
      if (s.gone || (fault_ == "half_statuses" && op.cancelled())) stored.children.clear();
      if (fault_ == "signs_numbers") stored.sequence &= INT32_MAX;
      if (fault_ == "keeps_children" && old != statuses_.end()) {
        for (const auto& child : old->second.children) {
          const auto same = [&](const auto& c) { return c.name == child.name; };
          if (std::none_of(stored.children.begin(), stored.children.end(), same))
            stored.children.push_back(child);
        }
      }
      // Those of the record, whatever the agent has reported.
      if (fault_ != "nameless_statuses")
        stored.ns = record->second.ns, stored.name = record->second.name;
      else
        stored.ns.clear(), stored.name.clear();
      stored.status_version = number != 0 ? number : ++given_status_;
      status_head_ = std::max(status_head_, stored.status_version);
      statuses_[s.key] = std::move(stored);
    }
    if (fault_ != "no_status_hint") hints_.tell(DAVIT_HINT_STATUSES);
    if (fault_ == "half_statuses" && op.cancelled())
      return Error{Code::cancelled, "the caller has gone", {}, {}};
    return {};
  }

  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus& visit) {
    const std::lock_guard lock(mutex_);
    const auto [incarnation, after] = q.cursor;
    if (fault_ != "any_status_cursor" && after != 0 &&
        (incarnation != incarnation_ || after > status_head_)) {
      return Error{Code::out_of_range, "no such cursor of statuses", {}, {}};
    }
    std::map<uint64_t, const Status*> ordered;
    for (const auto& [key, s] : statuses_) {
      if (s.status_version <= after) continue;
      if (!q.scope.kind.empty() && q.scope.kind != key.kind) continue;
      if (!q.scope.region.empty() && q.scope.region != key.region) continue;
      ordered[s.status_version] = &s;
    }
    StatusPage page{true, {incarnation_, after}, now()};
    uint64_t bytes = 0, count = 0;
    for (const auto& [version, s] : ordered) {
      bytes += text_bytes(*s);
      const bool full = fault_ != "whole_status_pages" && count > 0 && bytes > q.bytes_max;
      if (count++ == q.limit || full) return page;
      page.next.version = version;
      if (!visit(*s)) return page;
    }
    page.more = false;
    page.next.version = std::max(status_head_, after);
    return page;
  }

  Result<> progress(const Op&, const Progress& p) {
    {
      const std::lock_guard lock(mutex_);
      agents_[{p.region, p.agent}] = p;
    }
    hints_.tell(DAVIT_HINT_AGENTS);
    return {};
  }
  Result<bool> agents(const Op&, const AgentRead& q, const storage::VisitProgress& visit) {
    const std::lock_guard lock(mutex_);
    uint32_t count = 0;
    for (const auto& [key, p] : agents_) {
      if (!q.region.empty() && q.region != p.region && fault_ != "agents_of_any_region") continue;
      const bool after = fault_ == "agents_by_name"
                             ? p.agent > q.after_agent
                             : key > std::pair(q.after_region, q.after_agent);
      if (!after) continue;
      if (count++ == q.limit || !visit(p)) return true;
    }
    return false;
  }

  Result<> maintain(const Op&, const storage::Maintain& m) {
    const std::lock_guard lock(mutex_);
    const auto agent = agents_.find({m.forget.region, m.forget.agent});
    if (m.forgets() && agent != agents_.end() &&
        (agent->second.seen_at_unix_ms <= m.forget.seen_at_unix_ms ||
         fault_ == "forgets_who_came_back"))
      agents_.erase(agent);
    if (!m.purge) return {};
    const uint64_t through = std::min(m.purge_through, head_);
    for (auto at = records_.begin(); at != records_.end();) {
      const Record& r = at->second;
      if (r.live || r.version > through) {
        ++at;
        continue;
      }
      if (fault_ == "purge_leaves_names") purged_names_.push_back(r);
      versions_.erase(r.version);
      statuses_.erase(at->first);
      hidden_.erase(at->first);
      at = records_.erase(at);
    }
    purged_ = std::max(purged_, through);
    return {};
  }

  davit_storage_watch* watch(storage::Hint hint) { return hints_.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints_.unwatch(watch); }

 private:
  Head now() const { return {{incarnation_, head_}, status_head_, purged_}; }
  Record shown(Record r) const {
    if (hidden_.count(r.key) != 0) r.ns.clear(), r.name.clear();
    return r;
  }
  bool lingers(const Record& r) const {
    if (fault_ == "leaves_out_lingering") return false;
    const auto s = statuses_.find(r.key);
    if (s == statuses_.end()) return fault_ != "leaves_out_unheard";
    const bool of_this_death =
        s->second.observed_version >= r.version || fault_ == "takes_an_earlier_gone";
    return !s->second.gone || !of_this_death;
  }
  // Every real database has a pause between taking a number and committing it.
  static void dither() {
    thread_local std::mt19937 random(std::random_device{}());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  }

  GroupResult commit(const Group& group) {
    GroupResult result;
    uint64_t first = 0;
    if (fault_ == "late") {
      first = given_.fetch_add(group.mutations.size()) + 1;
      dither();
    }
    const std::lock_guard lock(mutex_);
    result.error = check(group);
    if (result.error) return result;
    if (const auto at = requests_.find(group.request_id);
        at != requests_.end() && fault_ != "forgets_requests") {
      result.first_version = at->second;
      return result;
    }
    const auto records = records_;
    const auto versions = versions_;
    const auto hidden = hidden_;
    if (first == 0) first = given_.load() + 1;
    uint64_t version = first;
    if (fault_ != "late" && fault_ != "hides_names") first = version = free_names(group, first);
    for (const auto& m : group.mutations) {
      result.error = mutate(m, group.request_id, version, result.actual_version);
      if (result.error) break;
      ++version;
    }
    if (result.error && fault_ != "halves") {
      records_ = records, versions_ = versions, hidden_ = hidden;
      return result;
    }
    head_ = std::max(head_, version - 1);
    if (fault_ != "late") given_ = head_;
    if (result.error) return result;
    result.first_version = first;
    if (!group.request_id.empty()) requests_[group.request_id] = first;
    return result;
  }

  static std::optional<Error> check(const Group& group) {
    std::set<Key> keys;
    for (const auto& m : group.mutations) keys.insert(m.record.key);
    if (keys.empty() || keys.size() != group.mutations.size()) {
      return Error{Code::invalid_argument, "not a group", {}, {}};
    }
    return std::nullopt;
  }

  // Gives deleted records whose names the group takes over a new version each. Returns the next
  // one.
  uint64_t free_names(const Group& group, uint64_t version) {
    std::set<Key> own;
    for (const auto& m : group.mutations) own.insert(m.record.key);
    for (const auto& m : group.mutations) {
      const Record& r = m.record;
      for (auto& [key, other] : records_) {
        if (!r.live || other.live || own.count(key) != 0 || hidden_.count(key) != 0) continue;
        if (key.kind != r.key.kind || key.region != r.key.region) continue;
        if (other.ns != r.ns || other.name != r.name) continue;
        versions_.erase(other.version);
        other.version = version++;
        versions_[other.version] = key;
        hidden_.insert(key);
      }
    }
    return version;
  }

  std::optional<Error> mutate(const Mutation& m, const std::string& request_id, uint64_t version,
                              uint64_t& actual) {
    Record r = m.record;
    if (fault_ == "cuts_ids") r.key.id = r.key.id.substr(0, 200);
    if (fault_ == "half_json") r.json.resize(r.json.size() / 2);
    const auto before = records_.find(r.key);
    const bool known = before != records_.end();
    const uint64_t is = known ? before->second.version : 0;
    if (fault_ != "ignores_expect" && m.expect != DAVIT_EXPECT_ANY && m.expect != is) {
      actual = is;
      return Error{Code::aborted, "another version", {}, {}};
    }
    bool hide = known && hidden_.count(r.key) != 0;
    if (known && !r.live && r.name.empty()) r.ns = before->second.ns, r.name = before->second.name;
    if (known && fault_ != "renames" &&
        (r.ns != before->second.ns || r.name != before->second.name)) {
      return Error{Code::invalid_argument, "names are for life", {}, {}};
    }
    for (const auto& [key, other] : records_) {
      if (key.id == r.key.id || key.kind != r.key.kind || key.region != r.key.region) continue;
      if (other.ns != r.ns || other.name != r.name || hidden_.count(key) != 0) continue;
      if (other.live && r.live) return Error{Code::already_exists, "name in use", key.id, {}};
      if (other.live) hide = true;
      if (!other.live && r.live) hidden_.insert(key);
    }
    if (known) versions_.erase(is);
    r.version = version;
    r.committed_at_unix_ms = host_.unix_ms();
    if (r.request_id.empty()) r.request_id = request_id;
    versions_[version] = r.key;
    if (hide && !r.live) {
      hidden_.insert(r.key);
    } else {
      hidden_.erase(r.key);
    }
    records_[r.key] = std::move(r);
    return std::nullopt;
  }

  const Host host_;
  const std::string fault_;
  std::mutex mutex_;
  uint64_t incarnation_ = 0, head_ = 0, status_head_ = 0, purged_ = 0;
  std::atomic<uint64_t> given_{0}, given_status_{0};
  std::map<Key, Record> records_;
  std::map<uint64_t, Key> versions_;
  std::set<Key> hidden_;  // deleted records whose names other records have
  std::vector<Record> purged_names_;
  std::map<std::string, uint64_t> requests_;
  std::map<Key, Status> statuses_;
  std::map<std::pair<std::string, std::string>, Progress> agents_;
  FaultyHints hints_{fault_};
};

}  // namespace davit::storage_naive

DAVIT_PLUGIN(davit::storage_naive::StorageNaive, "storage_naive", DAVIT_PLUGIN_VERSION,
             "keeps records in maps, rightly or wrongly")
