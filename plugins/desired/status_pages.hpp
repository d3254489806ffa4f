// The status of everything, page by page, for as many records as there are: neither a record nor a
// status is kept, but for a number of each record that was named. First the agents; then what has a
// status, each beside its record; then the live records that have none; at last the regions.
#pragma once

#include <unordered_set>

#include "render.hpp"
#include "watch.hpp"

namespace davit::desired {

class StatusPages : public Source {
 public:
  StatusPages(Shared& shared, Selection selection)
      : shared_(shared), selection_(std::move(selection)) {}

  Result<std::optional<std::string>> next() override;
  bool ends() const override { return true; }

 private:
  enum class Stage { begin, agents, statuses, records, regions, end };
  Result<> begin(v1::StatusResponse* out);
  void agents(v1::StatusResponse* out);
  Result<> statuses(v1::StatusResponse* out);
  Result<> records(v1::StatusResponse* out);
  Wanted judged(const davit_record& record) const;
  Result<> beside_its_record(const Status& status, v1::StatusResponse* out);
  bool go_on() const { return !left() && !shared_.stopping; }

  Shared& shared_;
  Selection selection_;
  Stage stage_ = Stage::begin;
  Conditions conditions_;
  size_t agents_ = 0;                 // said so many
  uint64_t statuses_ = 0;             // read up to here
  Cursor records_;                    // read up to here
  std::unordered_set<size_t> named_;  // hashes of keys
  std::set<std::string> regions_;     // with records
};

}  // namespace davit::desired
