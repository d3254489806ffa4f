// The mirror's store: a pool of connections to a PostgreSQL, asked as the original asks its
// database. It serves one server at a time, and only what the bench does: desired state, point
// queries, reports and heartbeats. The feed of the streamer, which the original does not have,
// costs it nothing.
//
// path = the connection string
#include <atomic>
#include <mutex>

#include "statements.hpp"

namespace davit::storage_mirror {

class StorageMirror {
 public:
  using roles = Roles<storage::Role>;
  static constexpr uint32_t max_concurrency = 10;  // the original keeps ten connections

  explicit StorageMirror(Host host) : host_(host), path_(Settings(host).string("path")) {}

  Result<> start(const Op&) {
    return asked([&] {
      pqxx::connection connection(path_);
      make_tables(connection);
      head_ = newest(connection);
      host_.health(DAVIT_HEALTH_SERVING);
    });
  }
  Result<> stop(const Op&) {
    idle_.clear();
    return {};
  }

  static storage::Limits limits() { return {.group_records = 1000}; }
  Result<Head> head(const Op&) { return now(); }
  Result<> history(const Op&, const storage::VisitCursor& visit) {
    visit(now().head);
    return {};
  }
  Result<Page> read(const Op&, const ReadRequest& q, const storage::VisitRecord& visit) {
    Page out{false, now().head.version, now()};
    if (q.scope.region.empty()) return out;
    auto r = asked([&] { std::tie(out.next_version, out.more) = Lent(*this)->page(q, visit); });
    if (!r.ok()) return r.error();
    return out;
  }
  Result<Head> get(const Op&, const GetRequest& q, const storage::VisitRecord& visit) {
    auto r = asked([&] {
      const Lent lent(*this);
      for (const Query& one : q.queries) lent->get(one, visit);
    });
    if (!r.ok()) return r.error();
    return now();
  }

  // One call at a time: the commit queue's word. Whatever is expected of a record is true: nobody
  // else writes.
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>& groups) {
    std::vector<GroupResult> results;
    std::vector<Record> records;
    Version version(head_);
    for (const auto& group : groups) {
      results.push_back({incarnation, version + 1, 0, {}});
      for (const auto& m : group.mutations) {
        records.push_back(m.record);
        records.back().version = ++version;
        records.back().committed_at_unix_ms = host_.unix_ms();
      }
    }
    auto r = asked([&] { Lent(*this)->write(records); });
    if (!r.ok()) return r.error();
    head_ = version.value();
    return results;
  }
  Result<> report(const Op&, const std::vector<Status>& statuses) {
    return asked([&] {
      const Lent lent(*this);
      for (const auto& status : statuses) lent->report(status);
    });
  }
  Result<> progress(const Op&, const Progress& progress) {
    return asked([&] { Lent(*this)->heartbeat(progress); });
  }

  // Nobody asks the mirror for these.
  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus&) {
    return StatusPage{false, q.cursor, now()};
  }
  Result<bool> agents(const Op&, const AgentRead&, const storage::VisitProgress&) { return false; }
  Result<> maintain(const Op&, const storage::Maintain&) { return {}; }

 private:
  // A connection of the pool for the time of one call.
  class Lent {
   public:
    explicit Lent(StorageMirror& owner) : owner_(owner) {
      {
        const std::lock_guard lock(owner.mutex_);
        if (!owner.idle_.empty()) {
          statements_ = std::move(owner.idle_.back());
          owner.idle_.pop_back();
        }
      }
      if (!statements_) statements_ = std::make_unique<Statements>(owner.path_);
    }
    ~Lent() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(statements_));
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Statements* operator->() const { return statements_.get(); }

   private:
    StorageMirror& owner_;
    std::unique_ptr<Statements> statements_;
  };

  template <class Work>
  static Result<> asked(Work work) {
    try {
      work();
      return {};
    } catch (const std::exception& e) {
      return Error{Code::unavailable, e.what()};
    }
  }
  Head now() const { return {{incarnation, Version(head_)}, 0, 0}; }

  static constexpr Incarnation incarnation = 1;  // nobody restores the mirror's database

  const Host host_;
  const std::string path_;
  std::atomic<uint64_t> head_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Statements>> idle_;
};

}  // namespace davit::storage_mirror

DAVIT_PLUGIN(davit::storage_mirror::StorageMirror, "storage_mirror", DAVIT_PLUGIN_VERSION,
             "the original's statements, on PostgreSQL")
