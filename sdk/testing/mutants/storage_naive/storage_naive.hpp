// A storage backend in a few maps, for the tests of the storage suite. Without the setting `fault`
// it keeps the contract, and the suite must pass. Each value of the setting breaks one rule in a
// way that real backends do, and the suite must fail exactly there. faults.hpp lists the values.
#pragma once

#include <mutex>
#include <random>
#include <thread>

#include "contents.hpp"
#include "faults.hpp"
#include "faulty_hints.hpp"
#include "own_table.hpp"

namespace davit::storage_naive {

class StorageNaive : private Contents {
 public:
  using roles = Roles<OwnTable>;
  static constexpr uint32_t max_concurrency = 8;
  static storage::Limits limits() { return {}; }

  explicit StorageNaive(Host host) : StorageNaive(Settings(host).string("fault", "")) {
    static const auto known = known_faults();
    if (known.count(fault_) == 0) Settings(host).reject("fault", "is not one of the faults");
  }
  // A store that is no instance's own, with a fault of the list above or of its owner.
  explicit StorageNaive(std::string fault) : fault_(std::move(fault)) {}

  const std::string& fault() const { return fault_; }
  // The owner may look at the contents, and change them, while nobody else does.
  std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock(mutex_); }
  Contents& contents() { return *this; }

  Result<Head> head(const Op&) {
    const std::lock_guard lock(mutex_);
    return now();
  }

  Result<> history(const Op&, const storage::VisitCursor& visit) {
    const std::lock_guard lock(mutex_);
    // UINT64_MAX: a version that the store has not given yet.
    const Version head = fault_ == "any_history" ? Version::max() : head_;
    for (size_t i = 0; i < chain_.size(); ++i)
      visit({chain_[i].incarnation, end_of(i, &Link::first_version, head)});
    return {};
  }

  Result<Page> read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    if (fault_ == "reads_nothing") return Page{false, head_, now()};
    if (const auto why = over(op)) return *why;
    if (fault_ == "cancels_others" && std::exchange(others_cancelled_, false))
      return Error{Code::cancelled, "somebody has given up"};
    if (fault_ != "any_cursor" && !accepts(q.cursor, &Link::first_version, head_)) {
      return Error{Code::out_of_range, "no such cursor"};
    }
    if (fault_ != "no_purge_mark" && q.cursor.version != 0 &&
        std::max(q.cursor.version, q.dead_after) < purged_) {
      return Error{Code::out_of_range, "below the purge mark"};
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
      const bool stopped = !visit(shown(r, q.no_payload));
      others_cancelled_ = op.cancelled();
      if (const auto why = over(op)) return *why;
      page.more = stopped && fault_ != "forgets_the_visitor";
      if (stopped) return page;
    }
    page.next_version = head_;
    return page;
  }

  Result<Head> get(const Op&, const GetRequest& request, const storage::VisitRecord& visit) {
    const std::lock_guard lock(mutex_);
    for (const Query& q : request.queries) {
      if (!get(q, request.no_payload, visit) || fault_ == "one_query") break;
    }
    return now();
  }
  bool get(const Query& q, bool no_payload, const storage::VisitRecord& visit) {
    for (const auto& [key, r] : records_) {
      if (key.kind != q.key.kind || key.region != q.key.region) continue;
      const bool named = hidden_.count(key) == 0 && r.name == q.name &&
                         (q.ns.empty() || r.ns == q.ns) && (r.live || fault_ != "finds_the_live");
      if (q.key.id.empty() ? !named : key.id != q.key.id) continue;
      if (!visit(shown(r, no_payload)) && fault_ != "never_stops") return false;
    }
    for (const Record& r : purged_names_) {
      if (q.key.id.empty() && r.name == q.name && (q.ns.empty() || r.ns == q.ns)) visit(r);
    }
    return true;
  }

  void tell(uint32_t what) { hints_.tell(what); }
  bool knows_request(const std::string& id) const { return requests_.count(id) != 0; }
  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    if (open_) return Error{Code::unavailable, "another transaction is open"};
    if (const auto why = over(op)) {
      if (fault_ == "leaves_open") open_ = true;
      if (fault_ == "cancels_halfway") (void)commit(groups.front());
      return *why;
    }
    std::vector<GroupResult> results;
    for (const auto& group : groups) results.push_back(commit(group));
    hints_.tell(DAVIT_HINT_RECORDS);
    return results;
  }

  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    for (const auto& s : statuses) {
      Version number;
      if (fault_ == "late") {
        number = Version(++given_status_);
        dither();
      }
      const std::lock_guard lock(mutex_);
      const auto record = records_.find(s.key);
      if (record == records_.end()) continue;
      if (s.observed_version > record->second.version && !s.gone && fault_ != "takes_lost_status")
        continue;
      if (!s.gone && fault_ != "takes_foreign_status" && !speaks_of_this_history(s)) continue;
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
      stored.status_version = number ? number : status_head_.next();
      status_head_ = std::max(status_head_, stored.status_version);
      statuses_[s.key] = std::move(stored);
    }
    if (fault_ != "no_status_hint") hints_.tell(DAVIT_HINT_STATUSES);
    if (fault_ == "half_statuses" && op.cancelled())
      return Error{Code::cancelled, "the caller has gone"};
    return {};
  }

  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus& visit) {
    const std::lock_guard lock(mutex_);
    const Version after = q.cursor.version;
    if (fault_ != "any_status_cursor" &&
        !accepts(q.cursor, &Link::first_status_version, status_head_)) {
      return Error{Code::out_of_range, "no such cursor of statuses"};
    }
    std::map<Version, const Status*> ordered;
    for (const auto& [key, s] : statuses_) {
      if (s.status_version <= after) continue;
      if (!q.scope.kind.empty() && q.scope.kind != key.kind) continue;
      if (!q.scope.region.empty() && q.scope.region != key.region) continue;
      ordered[s.status_version] = &s;
    }
    StatusPage page{true, {incarnation(), after}, now()};
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
      auto& stored = agents_[{p.region, p.agent}] = p;
      if (fault_ == "signs_incarnations") {
        for (auto& k : stored.kinds)
          k.applied.incarnation = Incarnation(k.applied.incarnation.value() & INT64_MAX);
      }
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
    const Version through = std::min(m.purge_through, head_);
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
  std::optional<Error> over(const Op& op) const {
    if (fault_ == "never_cancelled") return std::nullopt;
    return given_up(op, std::chrono::steady_clock::now().time_since_epoch());
  }
  Head now() const { return {{incarnation(), head_}, status_head_, purged_}; }
  bool accepts(Cursor at, First first, Version head) const {
    if (at.version == 0) return true;
    const bool any_end = fault_ == (first == &Link::first_version ? "any_end" : "any_status_end");
    const size_t i = link(at.incarnation);
    if (i < chain_.size()) return at.version <= (any_end ? head : end_of(i, first, head));
    return fault_ == "takes_trimmed" && at.version < chain_.front().*first;
  }
  bool speaks_of_this_history(const Status& s) const {
    const Cursor read_at{s.observed_incarnation, s.observed_version};
    if (read_at.incarnation == 0) return true;
    if (fault_ == "takes_status_beyond_end") return link(read_at.incarnation) < chain_.size();
    return accepts(read_at, &Link::first_version, head_);
  }
  Record shown(Record r, bool no_payload) const {
    if (no_payload) r.payload.clear(), r.json.clear(), r.annotations.clear();
    if (no_payload && fault_ == "no_payload_no_name") r.name.clear();
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

  GroupResult commit(const Group& group) {
    GroupResult result;
    Version first;
    if (fault_ == "late") {
      first = Version(given_.fetch_add(group.mutations.size()) + 1);
      dither();
    }
    const std::lock_guard lock(mutex_);
    if (fault_ != "no_incarnation") result.incarnation = incarnation();
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
    if (first == 0) first = head_ + 1;
    Version version = first;
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
    if (result.error) return result;
    result.first_version = first;
    if (!group.request_id.empty()) requests_[group.request_id] = first;
    return result;
  }

  // Gives deleted records whose names the group takes over a new version each. Returns the next
  // one.
  Version free_names(const Group& group, Version version) {
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

  // False: the version was lost, whatever has its number now.
  bool keeps_expected(const Mutation& m) const {
    if (m.expect == 0 || m.expect_incarnation == 0) return true;
    const size_t i = link(m.expect_incarnation);
    return i < chain_.size() && m.expect <= end_of(i, &Link::first_version, head_);
  }

  std::optional<Error> mutate(const Mutation& m, const std::string& request_id, Version version,
                              Version& actual) {
    Record r = m.record;
    if (fault_ == "cuts_ids") r.key.id = r.key.id.substr(0, 200);
    if (fault_ == "half_json") r.json.resize(r.json.size() / 2);
    const auto before = records_.find(r.key);
    const bool known = before != records_.end();
    const Version is = known ? before->second.version : Version();
    const bool met = m.expect == is && (fault_ == "expects_numbers" || keeps_expected(m));
    if (fault_ != "ignores_expect" && m.expect != any_version && !met) {
      actual = is;
      return Error{Code::aborted, "another version"};
    }
    bool hide = known && hidden_.count(r.key) != 0;
    if (known && !r.live && r.name.empty()) r.ns = before->second.ns, r.name = before->second.name;
    if (known && fault_ != "renames" &&
        (r.ns != before->second.ns || r.name != before->second.name)) {
      return Error{Code::invalid_argument, "names are for life"};
    }
    for (const auto& [key, other] : records_) {
      if (key.id == r.key.id || key.kind != r.key.kind || key.region != r.key.region) continue;
      if (other.ns != r.ns || other.name != r.name || hidden_.count(key) != 0) continue;
      if (other.live && r.live) return Error{Code::already_exists, "name in use", key.id};
      if (other.live) hide = true;
      if (!other.live && r.live) hidden_.insert(key);
    }
    if (known) versions_.erase(is);
    r.version = version;
    r.committed_at_unix_ms = unix_ms();
    if (r.request_id.empty()) r.request_id = request_id;
    versions_[version] = r.key;
    hidden_.erase(r.key);
    if (hide && !r.live) hidden_.insert(r.key);
    records_[r.key] = std::move(r);
    return std::nullopt;
  }

  const std::string fault_;
  std::recursive_mutex mutex_;                        // hold(), and then a call
  std::atomic<uint64_t> given_{0}, given_status_{0};  // with the fault "late"
  std::vector<Record> purged_names_;                  // with the fault "purge_leaves_names"
  FaultyHints hints_{fault_};
  bool others_cancelled_ = false;
  std::atomic<bool> open_{false};  // a transaction that nobody ends
};

}  // namespace davit::storage_naive
