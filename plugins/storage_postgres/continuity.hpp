// Whether the database is still the one that the current incarnation began in (S10). Nothing
// outside of the database is trusted for it, since any of several servers may have written last.
// The row `store` proves in each transaction that nothing was lost since the incarnation began:
//
//  * The server is the same process: it started at the same time. Whoever brings back a copy of its
//    files, promotes a standby or goes to another server, has another one.
//  * The system identifier and the timeline are the same, in case two servers started in the same
//    microsecond.
//  * The transaction that the row names as its writer is its writer (xmin). In a row that a dump
//    brought back it is not: the row was written by the restore.
//
// A process adds what it has seen itself: a head below it is of a database that went back.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "davit/storage_chain.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

// The row `store`, as one transaction sees it.
struct StoreState {
  Head head;
  bool unbroken = false;               // by the proofs of the row
  std::string broken_by;               // which of them fails, for people
  std::optional<std::string> loading;  // the note of a copy that is being loaded into the store
};

// Every transaction on the store begins like this, and reads the row `store` and the schema's
// version in the same message. Throws a Fault when the schema has another version than this code
// knows, so nobody writes to it; until the transaction ends, no migration changes the version.
// Likewise when the schema has no such row, and when the server has become a replica.
StoreState begin_on_store(Session& session, Session::Kind kind, Patience patience);
// Within such a transaction: locks the row, waiting for whoever has it, and reads it.
StoreState lock_store(Session& session);
// Within such a transaction: asks `first`, and then reads the row, in one message.
StoreState read_store(Session& session, const std::string& first);

bool same(const Head& a, const Head& b);

// What a process has seen of the store. Any thread.
class Seen {
 public:
  // Before a transaction begins: what it must not be behind.
  Head now() const;
  // What a transaction that has ended has seen or written.
  void note(const Head& head);

 private:
  mutable std::mutex mutex_;
  Head head_;
};

// Why the incarnation of `state` does not go on; empty: it goes on. `seen` is from before the
// transaction.
std::string broken_by(const StoreState& state, const Head& seen);

// Adds a link to the chain.
void append_link(Session& session, const storage::Chain::Link& link, const std::string& reason);
// Begins an incarnation within a write transaction that holds the row `store`, and changes `state`
// to it. The row's own update comes later in the transaction, or by write_store.
void begin_incarnation(Session& session, StoreState& state, const std::string& reason);
// Writes the row `store`. The last act before the commit.
void write_store(Session& session, const Head& head);

// The chain, read once for each incarnation. Any thread.
class Chains {
 public:
  // Of the incarnation of the transaction that runs on the session.
  std::shared_ptr<const storage::Chain> of(Session& session, Incarnation incarnation);

 private:
  std::mutex mutex_;
  std::shared_ptr<const storage::Chain> newest_;
};

}  // namespace davit::storage_postgres
