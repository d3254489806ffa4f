// Feeds a Board from the store: everything at first, later only what has changed. Status and
// WatchStatus use it. All functions block: on the storage's pool, one call at a time.
#pragma once

#include <davit/storage.hpp>

#include "board.hpp"
#include "lag.hpp"

namespace davit::desired {

// The last progress of all agents of the region (empty: of any), each with its lag. Blocks.
Result<std::vector<Agent>> read_agents(const storage::Client& storage, Lag& lag,
                                       const std::string& region, const GoOn& go_on);

class Survey {
 public:
  // `lag` outlives the Survey; `unsent` is the Board's.
  Survey(storage::Client storage, Lag& lag, Selection selection, GoOn go_on,
         Board::Unsent unsent = {})
      : storage_(std::move(storage)),
        lag_(lag),
        go_on_(std::move(go_on)),
        board_(std::move(selection), std::move(unsent)) {}

  // True: there may be something new to show.
  Result<bool> refresh();
  // Writes what was read last.
  void render(int64_t now_unix_ms, v1::StatusResponse* out) const;
  // True: no record and no status was read.
  bool nothing() const { return board_.empty(); }

 private:
  Result<> read_news(bool records, bool statuses);
  Result<> read_records(const std::string& region, Cursor& from);
  Result<> judge_records();
  Result<> read_statuses();
  Result<bool> look_at_agents();

  storage::Client storage_;
  Lag& lag_;
  GoOn go_on_;
  Board board_;
  Head head_;
  Cursor records_;                // records read up to here
  Cursor statuses_;               // statuses read up to here
  std::set<std::string> judged_;  // regions whose records were judged when they were read
  bool first_ = true;
  // For each agent at the last read: when it was heard of, and its lag.
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, uint64_t>> seen_;
};

}  // namespace davit::desired
