// An open database: the lock on it, one writing connection, some reading ones, and the chain of
// incarnations. Its methods are the storage role's; each is one transaction, and any thread may
// call it.
#pragma once

#include <atomic>
#include <mutex>

#include "chain.hpp"
#include "connection.hpp"
#include "davit/storage.hpp"
#include "davit/storage_copy.hpp"
#include "lock.hpp"
#include "measure.hpp"
#include "whereabouts.hpp"

namespace davit::storage_sqlite {

class Database {
 public:
  // ":memory:" keeps everything in the process and is gone with it. Otherwise an absolute path;
  // takes the lock. A new incarnation begins; it is stored with the first write, and before anybody
  // can ask for the history that it is part of: a start that comes to nothing leaves no trace.
  static Result<std::unique_ptr<Database>> open(const Host& host, const std::string& path);
  // Would open succeed? Changes nothing. UNAVAILABLE: another process has it open.
  static Result<> check(const std::string& path);
  ~Database();

  Result<Head> head(const Op& op);
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit);
  Result<Head> get(const Op& op, const Query& query, const storage::VisitRecord& visit);
  Result<uint64_t> statuses(const Op& op, const Scope& scope, uint64_t after, uint32_t limit,
                            const storage::VisitStatus& visit);
  Result<> agents(const Op& op, const storage::VisitProgress& visit);
  Result<History> history(const Op& op);

  struct Committed {
    std::vector<GroupResult> results;
    uint64_t records = 0;
  };
  Result<Committed> commit(const Op& op, const std::vector<Group>& groups);
  Result<size_t> report(const Op& op, const std::vector<Status>& statuses);
  Result<> progress(const Op& op, const Progress& progress);
  Result<> forget(const Op& op, const storage::Maintain::ForgetAgent& agent);
  Result<> purge(const Op& op, uint64_t through);
  Result<> tidy();

  // See abi/storage_copy.h. `path` of verify may be empty.
  Result<storage::Copied> backup(const Op& op, const std::string& path,
                                 const storage::CopyProgress& tell);
  Result<storage::Copied> verify(const Op& op, const storage::CopyProgress& tell);

  // Commits go into a journal, which has to be moved into the file now and then. That takes many
  // times what a commit takes, so it is done beside the commits: once for every true here.
  bool journal_is_due();
  Result<> move_journal();

  // Of a file. Never at the same time as the file is opened anew, which waits for it.
  Measured measure(const Op& op);

 private:
  class Reader;
  Database(const Host& host, std::string path) : host_(host), path_(std::move(path)) {}
  Result<> open_file();
  Result<> open_memory();
  Result<> open_writer();
  Result<> reopen();
  Result<> read_chain();
  void begin_journal();
  // Whoever is given a cursor to keep must find its incarnation in the chain of the next life.
  Result<> begin(const Op& op);
  void begin_incarnation(Connection& c);
  Result<> commit(Transaction& transaction);
  Result<std::unique_ptr<Connection>> connect_reader() const;
  static int journal_grew(void* self, sqlite3* connection, const char*, int pages);
  // Runs `work(connection)` in one transaction and answers with what it returns.
  template <class Work>
  auto reading(const Op& op, Work work) -> Result<decltype(work(std::declval<Connection&>()))>;
  template <class Work>
  auto writing(const Op& op, Work work) -> Result<decltype(work(std::declval<Connection&>()))>;

  std::unique_lock<std::mutex> take_writer();

  const Host host_;
  const std::string path_;
  std::optional<Lock> lock_;                // first to come, last to go
  std::optional<Whereabouts> whereabouts_;  // of a file; with the writer's lock
  Chain chain_;
  uint64_t first_version_ = 0;      // of this incarnation
  std::atomic<bool> begun_{false};  // it is stored
  bool unsettled_ = false;  // to be opened anew before the next write; with the writer's lock
  std::mutex writer_turn_;  // held while waiting for the next: see take_writer
  std::mutex writer_mutex_;
  std::unique_ptr<Connection> writer_;  // in memory: the only connection
  std::mutex readers_mutex_;
  std::vector<std::unique_ptr<Connection>> readers_;  // those nobody is using
  std::mutex mover_mutex_;
  std::unique_ptr<Connection> mover_;  // of the journal; made when it is needed first
  std::atomic<bool> mover_is_old_{false};
  bool journal_is_held_ = false;  // and was told of; with the writer's lock
  std::atomic<int> journal_pages_{0};
  std::atomic<int> journal_due_at_{0};  // pages
  std::atomic<int64_t> moved_at_unix_ms_{0};
  std::mutex measuring_;  // after the writer's lock
};

}  // namespace davit::storage_sqlite
