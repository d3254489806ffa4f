// An open database: the lock on it, one connection for writing, several for reading, and the chain
// of incarnations. Its methods implement the storage role. Each is one transaction, except purge,
// which uses several small ones. [any]
#pragma once

#include <atomic>
#include <mutex>

#include "connection.hpp"
#include "davit/storage.hpp"
#include "davit/storage_chain.hpp"
#include "davit/storage_copy.hpp"
#include "davit/storage_move.hpp"
#include "lock.hpp"
#include "measure.hpp"
#include "open_files.hpp"
#include "schema.hpp"
#include "writer_lock.hpp"

namespace davit::storage_sqlite {

class Database {
 public:
  // Opens an absolute path and takes its lock. ":memory:" is kept in the process only, and ends
  // with it. A new incarnation begins, see Chain. It is stored with the first write, or before a
  // caller can ask for the history that contains it, so a start that does neither leaves no trace.
  // For another use than to serve, none begins, and each call reads the chain that is stored.
  static Result<std::unique_ptr<Database>> open(const Host& host, const std::string& path,
                                                Use use = Use::serve);
  // Checks whether open would succeed, and changes nothing. UNAVAILABLE: another process has it
  // open.
  static Result<> check(const std::string& path);
  ~Database();

  Result<Head> head(const Op& op);
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit);
  Result<Head> get(const Op& op, const GetRequest& request, const storage::VisitRecord& visit);
  Result<StatusPage> statuses(const Op& op, const StatusRead& request,
                              const storage::VisitStatus& visit);
  Result<bool> agents(const Op& op, const AgentRead& request, const storage::VisitProgress& visit);
  Result<History> history(const Op& op);

  struct Committed {
    std::vector<GroupResult> results;
    uint64_t records = 0;
  };
  Result<Committed> commit(const Op& op, const std::vector<Group>& groups);
  Result<size_t> report(const Op& op, const std::vector<Status>& statuses);
  Result<> progress(const Op& op, const Progress& progress);
  Result<> forget(const Op& op, const storage::Maintain::ForgetAgent& agent);
  Result<> purge(const Op& op, Version through);
  Result<> tidy();

  // See abi/storage_copy.h. verify reads this database.
  Result<storage::Copied> backup(const Op& op, const std::string& path,
                                 const storage::CopyProgress& tell);
  Result<storage::Copied> verify(const Op& op, const storage::CopyProgress& tell);

  // See abi/storage_move.h. Of a database that is open for loading.
  Result<> load(const Op& op, const storage::Load& what);
  Result<> finish(const Op& op, const storage::LoadEnd& end);

  // Commits go into a journal, which must be moved into the file from time to time. A move takes
  // much longer than a commit, so it runs beside the commits: call move_journal once for each true
  // here.
  bool journal_is_due();
  Result<> move_journal();

  // Measures a file. It never runs while the file is opened again; reopen() waits for it.
  Measured measure(const Op& op);

 private:
  class Reader;
  Database(const Host& host, std::string path, Use use)
      : host_(host), path_(std::move(path)), use_(use) {}
  bool in_memory() const { return path_ == ":memory:"; }
  Result<> open_file();
  Result<> open_observed();
  Result<> open_memory();
  Result<> open_writer();
  Result<> reopen();
  Result<> read_chain();
  // The chain that the transaction sees. `read` keeps it, unless it is that of this open.
  const storage::Chain& chain_in(Connection& c, storage::Chain& read) const;
  void begin_journal();
  // Stores the incarnation. A cursor that a caller keeps must find its incarnation in the chain
  // after the next start.
  Result<> begin(const Op& op);
  void begin_incarnation(Connection& c);
  Result<> commit(Transaction& transaction);
  Result<std::unique_ptr<Connection>> connect_reader() const;
  static int journal_grew(void* self, sqlite3* connection, const char*, int pages);
  // Runs `work(connection)` in one transaction, and returns its result.
  template <class Work>
  auto reading(const Op& op, Work work) -> Result<decltype(work(std::declval<Connection&>()))>;
  template <class Work>
  auto writing(const Op& op, Work work) -> Result<decltype(work(std::declval<Connection&>()))>;

  const Host host_;
  const std::string path_;
  const Use use_;
  std::optional<Lock> lock_;             // first to be created, last to be destroyed
  std::optional<OpenFiles> open_files_;  // of a file; guarded by the writer's lock
  storage::Chain chain_;                 // ends with the incarnation that this open begins
  std::atomic<bool> begun_{false};       // the incarnation is stored
  bool unsettled_ = false;  // open again before the next write; guarded by the writer's lock
  WriterLock writer_lock_;
  std::unique_ptr<Connection> writer_;  // in memory: the only connection
  std::mutex readers_mutex_;
  std::vector<std::unique_ptr<Connection>> readers_;  // those that are not in use
  std::mutex mover_mutex_;
  std::unique_ptr<Connection> mover_;  // moves the journal; created on first use
  std::atomic<bool> mover_is_old_{false};
  bool journal_is_held_ = false;  // a reader holds it, and the log says so; writer's lock
  std::atomic<int> journal_pages_{0};
  std::atomic<int> journal_due_at_{0};  // pages
  std::atomic<int64_t> moved_at_unix_ms_{0};
  std::mutex measuring_;  // taken after the writer's lock
};

}  // namespace davit::storage_sqlite
