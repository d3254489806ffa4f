// Feeds a Board from the store: everything at first, afterwards what has changed since. Blocking:
// on the storage's pool, one call at a time.
#pragma once

#include <davit/storage.hpp>

#include "board.hpp"

namespace davit::desired {

class Survey {
 public:
  Survey(storage::Client storage, Selection selection)
      : storage_(std::move(storage)), board_(std::move(selection)) {}

  // True when there may be something new to show.
  Result<bool> refresh();
  // The encoded StatusResponse of what was read last.
  std::string answer() const;
  // No record and no status was read.
  bool nothing() const { return board_.empty(); }

 private:
  Result<> read_records();
  Result<> read_statuses();
  Result<bool> read_agents();
  Result<uint64_t> lag(const Progress& progress);
  Result<uint64_t> newer(const Scope& scope, Cursor applied);

  storage::Client storage_;
  Board board_;
  Head head_;
  Cursor records_;         // read up to here
  uint64_t statuses_ = 0;  // read up to here
  bool first_ = true;
  // What was said of each agent last, with the head it was counted at.
  std::map<std::pair<std::string, std::string>, std::pair<std::vector<Cursor>, Agent>> counted_;
};

}  // namespace davit::desired
