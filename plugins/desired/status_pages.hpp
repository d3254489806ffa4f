// The source of ListStatus: the status of everything, page by page, however large the store is. It
// keeps no record and no status, only a hash for each record that it has named. The order is: the
// agents; the records that have a status; the other records that are not deleted; at last the
// regions. When the store refuses its position (the history changed, as after a restore), the
// statuses and the records are read again from the start, and only those are named that were not.
#pragma once

#include <span>
#include <unordered_set>

#include "render.hpp"
#include "watch.hpp"

namespace davit::desired {

class StatusPages : public Source {
 public:
  StatusPages(Shared& shared, storage::Client storage, Selection selection)
      : shared_(shared), storage_(std::move(storage)), selection_(std::move(selection)) {}

  Result<std::optional<std::string>> next() override;
  bool ends() const override { return true; }
  std::shared_ptr<KindQueries> queries() const override { return queries_; }

 private:
  enum class Stage { begin, agents, statuses, records, page, regions, end };
  Result<> begin(v1::StatusResponse* out);
  void agents(v1::StatusResponse* out);
  Result<> statuses();
  Result<> records();
  void show(v1::StatusResponse* out);
  Wanted judged(const davit_record& record, KindQueries& queries) const;
  bool begin_anew(const Error& why);
  Result<> beside_their_records(std::span<const Status> statuses, KindQueries& queries);
  void add(const Status& status, Wanted record);
  void ask(std::shared_ptr<KindQueries> queries);
  bool go_on() const { return !left() && !shared_.stopping; }

  Shared& shared_;
  const storage::Client storage_;
  Selection selection_;
  Stage stage_ = Stage::begin;
  Conditions conditions_;
  bool asks_kinds_ = false;  // about some records, for which it needs their payload
  size_t agents_ = 0;        // agents named so far
  Cursor statuses_;          // statuses read up to here
  Cursor records_;           // records read up to here
  int begun_anew_ = 0;
  // What the last page has to show, and what the kinds are asked about it.
  struct Shown {
    Key key;
    Wanted record;
    std::optional<Status> observed;
  };
  std::vector<Shown> page_;
  std::shared_ptr<KindQueries> queries_;
  std::unordered_set<size_t> named_;  // hashes of the keys of named records
  std::set<std::string> regions_;     // regions of named records
};

}  // namespace davit::desired
