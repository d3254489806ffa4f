// The store in a PostgreSQL database: each call of the role as one transaction on a connection of
// the pool. Several processes may have the same database; they see one history. Any thread.
#pragma once

#include <atomic>

#include "call.hpp"
#include "continuity.hpp"
#include "davit/storage.hpp"
#include "davit/storage_intents.hpp"
#include "davit/storage_move.hpp"
#include "schema.hpp"

namespace davit::storage_postgres {

// What a Database is opened for: to serve a store; to read one that others may have open, without
// a change of any kind; or to load a copy into one.
enum class Use { serve, observe, load };

class Database {
 public:
  Database(const Host& host, const PostgresSettings& settings, Use use = Use::serve);

  // Connects, and asks whether this code can work with what is there. Changes nothing. `missing_is`
  // what a schema that does not exist is.
  enum class Missing { refused, accepted };
  Result<> check(const Op& op, Missing missing_is);
  // The steps that were made, or would be made.
  Result<std::vector<std::string>> migrate(const Op& op, bool dry_run);
  // Has the store from now on, with others or alone (presence.hpp). UNAVAILABLE: others have it.
  enum class Presence { shared, alone };
  Result<> take(const Op& op, Presence how);
  void leave(const Op& op);
  // The connection that has it.
  std::unique_ptr<Session> hand_over_presence() { return std::move(presence_); }
  // See abi/storage_move.h.
  Result<std::string> begin_load(const Op& op, storage::LoadBegin how);
  Result<> load(const Op& op, const storage::Load& what);
  Result<> finish_load(const Op& op, const storage::LoadEnd& end);
  // What an operator should know about the server, one line each. After check().
  std::vector<std::string> warnings() const;

  Result<Head> head(const Op& op);
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord& visit);
  Result<Head> get(const Op& op, const GetRequest& request, const storage::VisitRecord& visit);
  Result<StatusPage> statuses(const Op& op, const StatusRead& request,
                              const storage::VisitStatus& visit);
  Result<bool> agents(const Op& op, const AgentRead& request, const storage::VisitProgress& visit);
  Result<History> history(const Op& op);

  struct Committed {
    std::vector<GroupResult> results;
    uint64_t records = 0;  // that were written
  };
  Result<Committed> commit(const Op& op, const std::vector<Group>& groups);
  // Returns how many were stored.
  Result<size_t> report(const Op& op, const std::vector<Status>& statuses);
  Result<> progress(const Op& op, const Progress& progress);
  Result<> forget(const Op& op, const storage::Maintain::ForgetAgent& agent);
  Result<> purge(const Op& op, Version through);
  Result<std::vector<storage::Intent>> open_intents(const Op& op, uint64_t after, uint32_t limit);
  Result<> settle_intent(const Op& op, const storage::IntentOutcome& outcome);
  // Forgets requests and commits that nobody asks for any more.
  Result<> tidy(const Op& op);
  // Forgets intents that were decided long ago.
  Result<> forget_intents(const Op& op);

  // Calls that wait for a connection end soon, and no later one begins.
  void close() { pool_.close(); }
  Pool& pool() { return pool_; }

 private:
  template <class Work>
  auto guarded(const Op& op, Work work) -> decltype(work());
  template <class Work>
  auto reading(const Op& op, Work work)
      -> Result<decltype(work(std::declval<Session&>(), std::declval<const Head&>()))>;
  template <class Wait, class Work>
  auto writing(const Op& op, const std::string& batch, Wait wait, Work work)
      -> Result<decltype(work(std::declval<Session&>(), std::declval<Head&>()))>;
  template <class Work>
  Result<> apart(const Op& op, Work work);  // a write that takes no version
  StoreState judged(StoreState state) const;
  std::string broken(const StoreState& state, const Head& seen) const;
  void renew(const Op& op);
  void end_commit(Call& call, const std::string& batch);
  bool settle(const std::string& batch);
  Error for_log(Error error) const;
  void count_write(const Op& op, std::atomic<uint64_t>& writes, const char* table);

  const Host host_;
  const PostgresSettings& settings_;
  const Use use_;
  const Schema schema_;
  Pool pool_;
  Watchman watchman_;
  const SessionSource session_source_;
  Seen seen_;
  Chains chains_;
  std::atomic<uint64_t> commits_{0}, reports_{0};
  std::atomic<bool> fsync_{true};
  std::atomic<bool> loads_{false};  // from a start that loads to finish_load
  std::unique_ptr<Session> presence_;
};

}  // namespace davit::storage_postgres
