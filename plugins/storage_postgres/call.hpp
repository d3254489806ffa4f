// A transaction of one call of the role: a connection of the pool that is watched for the caller.
// Throws Faults.
#pragma once

#include "continuity.hpp"
#include "pool.hpp"
#include "watchman.hpp"

namespace davit::storage_postgres {

// Where calls get their connections from. Outlives them.
struct SessionSource {
  const Host& host;
  const PostgresSettings& settings;
  Pool& pool;
  Watchman& watchman;
};

class Call {
 public:
  Call(const SessionSource& source, const Op& op) : source_(source), op_(op) {}
  ~Call() {
    if (session_) (*session_)->roll_back();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Borrows a connection and begins a transaction on the store. An idle connection may have been
  // closed by the server since; then nothing has begun, and a new connection takes its place.
  StoreState begin(Session::Kind kind);
  Session& session() { return **session_; }
  Watchman::Watch& watch() { return *watch_; }
  // Gives the connection back, without a commit.
  void end();

 private:
  Patience patience() const;
  StoreState try_begin(Session::Kind kind);

  const SessionSource& source_;
  const Op& op_;
  std::optional<Pool::Lent> session_;
  std::optional<Watchman::Watch> watch_;  // ends first
};

}  // namespace davit::storage_postgres
