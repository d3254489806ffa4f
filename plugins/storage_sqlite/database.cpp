#include "database.hpp"

#include "agents.hpp"
#include "commit.hpp"
#include "copy.hpp"
#include "loading.hpp"
#include "purge.hpp"
#include "records.hpp"
#include "statuses.hpp"

namespace davit::storage_sqlite {

// The connection of one read. In memory it is the only connection.
class Database::Reader {
 public:
  explicit Reader(Database& database) : database_(database) {
    if (database.in_memory()) return;
    const std::lock_guard lock(database.readers_mutex_);
    if (database.readers_.empty()) return;
    own_ = std::move(database.readers_.back());
    database.readers_.pop_back();
    connection_ = own_.get();
  }
  ~Reader() {
    if (!own_) return;
    const std::lock_guard lock(database_.readers_mutex_);
    database_.readers_.push_back(std::move(own_));
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  // Opens a connection if all are in use. There are as many as there were simultaneous reads.
  Result<> connect(const Op& op) {
    if (connection_ != nullptr) return {};
    if (database_.in_memory()) {
      auto only = database_.writer_lock_.take(op, database_.host_);
      if (!only.ok()) return only.error();
      only_ = std::move(*only);
      connection_ = database_.writer_.get();
      return {};
    }
    auto made = database_.connect_reader();
    if (!made.ok()) return made.error();
    own_ = std::move(*made);
    connection_ = own_.get();
    return {};
  }
  Connection& operator*() const { return *connection_; }

 private:
  Database& database_;
  std::unique_lock<WriterLock> only_;
  std::unique_ptr<Connection> own_;
  Connection* connection_ = nullptr;
};

Database::~Database() {
  readers_.clear();
  mover_.reset();
  writer_.reset();  // the last connection to close moves the journal into the file
}

// Runs in the transaction of a write, so that both are kept or neither.
void Database::begin_incarnation(Connection& c) {
  const storage::Chain::Link& link = chain_.last();
  c.run(
      "INSERT OR IGNORE INTO incarnations (incarnation, first_version, first_status_version, "
      "opened_at_unix_ms) VALUES (?, ?, ?, ?)",
      link.incarnation, link.first_version, link.first_status_version, host_.unix_ms());
  c.run("DELETE FROM incarnations WHERE number <= (SELECT max(number) FROM incarnations) - ?",
        static_cast<int64_t>(storage::Chain::links_max));
}

template <class Work>
auto Database::reading(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Connection&>()))> {
  Reader reader(*this);
  if (auto r = reader.connect(op); !r.ok()) return r.error();
  Connection& c = *reader;
  std::optional<decltype(work(c))> out;
  {
    Transaction transaction(c, Transaction::Kind::read);
    const Connection::Watch watch(c, op, host_);  // does not disturb the rollback
    out.emplace(work(c));  // the rollback ends a read as well as a commit does
  }
  if (c.failed()) return c.take_error();
  return std::move(*out);
}

template <class Work>
auto Database::writing(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Connection&>()))> {
  const auto held = writer_lock_.take(op, host_);
  if (!held.ok()) return held.error();
  if (unsettled_) {
    if (auto r = reopen(); !r.ok()) return r.error();
  }
  Connection& c = *writer_;
  std::optional<Transaction> transaction;
  std::optional<decltype(work(c))> out;
  {
    // The commit is outside, because a progress handler may report a failure for a statement that
    // has succeeded.
    Connection::Watch watch(c, op, host_);
    transaction.emplace(c, Transaction::Kind::write);
    if (!begun_) begin_incarnation(c);
    out.emplace(work(c));
    watch.look();
  }
  if (auto r = commit(*transaction); !r.ok()) return r.error();
  return std::move(*out);
}

Result<> Database::commit(Transaction& transaction) {
  Connection& c = *writer_;
  if (auto fault = open_files_ && !c.failed() ? open_files_->fault() : std::nullopt)
    c.fail({Code::data_loss, "database \"" + path_ + "\": " + *fault, path_});
  auto r = transaction.commit();
  unsettled_ = c.unsettled();
  if (r.ok()) begun_ = true;
  return r;
}

Result<> Database::begin(const Op& op) {
  if (begun_) return {};
  auto begun = writing(op, [](Connection&) { return std::monostate(); });
  return begun.ok() ? Result<>() : begun.error();
}

Result<Head> Database::head(const Op& op) {
  return reading(op, [&](Connection& c) {
    storage::Chain read;
    return read_head(c, chain_in(c, read));
  });
}

Result<Page> Database::read(const Op& op, const ReadRequest& request,
                            const storage::VisitRecord& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) {
    storage::Chain read;
    return read_page(c, chain_in(c, read), request, visit);
  });
}

Result<Head> Database::get(const Op& op, const GetRequest& request,
                           const storage::VisitRecord& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) {
    storage::Chain read;
    return get_records(c, chain_in(c, read), request, visit);
  });
}

Result<StatusPage> Database::statuses(const Op& op, const StatusRead& request,
                                      const storage::VisitStatus& visit) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) {
    storage::Chain read;
    return read_statuses(c, chain_in(c, read), request, visit);
  });
}

Result<bool> Database::agents(const Op& op, const AgentRead& request,
                              const storage::VisitProgress& visit) {
  return reading(op, [&](Connection& c) { return read_agents(c, request, visit); });
}

Result<History> Database::history(const Op& op) {
  if (auto r = begin(op); !r.ok()) return r.error();
  return reading(op, [&](Connection& c) {
    storage::Chain read;
    const storage::Chain& chain = chain_in(c, read);
    return chain.history(read_head(c, chain).head.version);
  });
}

Result<Database::Committed> Database::commit(const Op& op, const std::vector<Group>& groups) {
  return writing(op, [&](Connection& c) {
    Committed out;
    storage::Chain read;
    Commit commit(c, chain_in(c, read), host_.unix_ms());
    for (const auto& group : groups) out.results.push_back(commit.apply(group));
    if (commit.finish()) out.records = commit.records();
    return out;
  });
}

Result<size_t> Database::report(const Op& op, const std::vector<Status>& statuses) {
  return writing(op, [&](Connection& c) {
    storage::Chain read;
    return store_statuses(c, chain_in(c, read), statuses, host_.unix_ms());
  });
}

Result<> Database::progress(const Op& op, const Progress& progress) {
  return writing(op, [&](Connection& c) {
    store_progress(c, progress);
    return std::monostate();
  });
}

Result<> Database::forget(const Op& op, const storage::Maintain::ForgetAgent& agent) {
  return writing(op, [&](Connection& c) {
    forget_agent(c, agent);
    return std::monostate();
  });
}

Result<> Database::purge(const Op& op, Version through) {
  while (true) {
    auto more = writing(op, [&](Connection& c) { return purge_some(c, through); });
    if (!more.ok()) return more.error();
    if (!*more) return {};
  }
}

Result<storage::Copied> Database::backup(const Op& op, const std::string& path,
                                         const storage::CopyProgress& tell) {
  auto copied = reading(op, [&](Connection& c) { return copy_to(c, path, tell); });
  if (!copied.ok()) return copied.error();
  return std::move(*copied);
}

Result<storage::Copied> Database::verify(const Op& op, const storage::CopyProgress& tell) {
  auto verified = reading(op, [&](Connection& c) { return verify_all(c, tell); });
  if (!verified.ok()) return verified.error();
  return std::move(*verified);
}

Result<> Database::load(const Op& op, const storage::Load& what) {
  auto r = writing(op, [&](Connection& c) {
    storage_sqlite::load(c, what);
    return std::monostate();
  });
  return r.ok() ? Result<>() : r.error();
}

Result<> Database::finish(const Op& op, const storage::LoadEnd& end) {
  auto r = writing(op, [&](Connection& c) {
    finish_loading(c, end, host_.unix_ms());
    return std::monostate();
  });
  return r.ok() ? Result<>() : r.error();
}

Measured Database::measure(const Op& op) {
  // An open connection of this process would keep SQLite's view of the file alive during reopen().
  const std::lock_guard no_reopen(measuring_);
  auto counted = reading(op, [](Connection& c) {
    Measured out;
    count_rows(c, out);
    return out;
  });
  Measured out = counted.ok() ? *counted : Measured();
  look_at_files(path_, out);
  if (const int64_t moved = moved_at_unix_ms_; moved != 0) out.moved_at_unix_ms = moved;
  return out;
}

}  // namespace davit::storage_sqlite
