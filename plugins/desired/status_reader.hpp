// Feeds a StatusView from the store: everything at first, later only what has changed. Status and
// WatchStatus use it. All functions block: on the storage's pool, one call at a time. What the
// kinds are to be asked about is handed out page by page.
#pragma once

#include <functional>

#include <davit/storage.hpp>

#include "kind_queries.hpp"
#include "lag.hpp"
#include "status_view.hpp"

namespace davit::desired {

// The last progress of all agents of the region (empty: of any), each with its lag. Blocks.
Result<std::vector<Agent>> read_agents(const storage::Client& storage, Lag& lag,
                                       const std::string& region, const GoOn& go_on);

// How kinds are asked about a record, and what is delayed. All empty: none is asked.
struct StatusAsks {
  std::function<void(const davit_record&, KindQueries&)> add{};
  std::function<std::chrono::nanoseconds()> now{};
  std::function<std::vector<Delay>()> delays{};
  std::function<KindQueries::Answers(const KindQueries&)> answers{};
};

class StatusReader {
 public:
  using Asks = StatusAsks;
  // `lag` outlives the StatusReader.
  StatusReader(storage::Client storage, Lag& lag, Selection selection, GoOn go_on, Asks asks = {})
      : storage_(std::move(storage)),
        lag_(lag),
        go_on_(std::move(go_on)),
        asks_(std::move(asks)),
        view_(std::move(selection)) {}

  // True: there may be something new to show. When `queries` is not NULL afterwards, kinds are to
  // be asked first: run it, then call refresh again.
  Result<bool> refresh();
  std::shared_ptr<KindQueries> queries() const { return queries_; }
  // Writes what was read last.
  void render(int64_t now_unix_ms, v1::StatusResponse* out) const;
  // True: no record and no status was read.
  bool nothing() const { return view_.empty(); }

 private:
  enum class Stage { begin, records, statuses, judge, end };
  Result<> begin();
  Result<> step();
  bool names_one() const;
  Result<bool> read_record();
  Result<bool> read_page(const std::string& region, Cursor& from, bool all);
  void visit(const davit_record& record);
  void take_answers();
  Result<> read_statuses();
  void begin_to_judge();
  Result<> judge();
  Result<bool> look_at_agents();

  storage::Client storage_;
  Lag& lag_;
  GoOn go_on_;
  Asks asks_;
  StatusView view_;
  std::shared_ptr<KindQueries> queries_;

  // Of the refresh in progress.
  Stage stage_ = Stage::begin;
  bool moved_ = false, statuses_moved_ = false, again_ = false;
  bool all_ = false;                  // it reads the records from the start
  std::vector<std::string> to_read_;  // regions whose records are read again
  Cursor region_;                     // read up to here of the last of those

  Head head_;
  Cursor records_;                // records read up to here
  Cursor statuses_;               // statuses read up to here
  std::set<std::string> judged_;  // regions about whose records the kinds were asked
  std::optional<std::chrono::nanoseconds> judged_at_;  // when delayed records were asked about last
  bool first_ = true;
  std::map<std::pair<Key, std::string>, Version> delayed_;  // at the last read: the versions
  // For each agent at the last read: when it was heard of, and its lag.
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, uint64_t>> seen_;
};

}  // namespace davit::desired
