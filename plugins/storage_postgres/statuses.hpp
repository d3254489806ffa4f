// Stores and reads statuses. Throws Faults.
#pragma once

#include <map>

#include "davit/storage_chain.hpp"
#include "records.hpp"

namespace davit::storage_postgres {

class StatusBatch {
 public:
  // The statuses are borrowed.
  StatusBatch(const std::vector<Status>& statuses, int64_t now_unix_ms)
      : statuses_(statuses), now_(now_unix_ms) {}

  // Waits for other sessions that hold the tables or the statuses, and locks them.
  void wait(Session& session) const;
  // The caller holds the row `store`. Returns how many were stored.
  size_t carry_out(Session& session, const storage::Chain& chain, Head& head);
  // Writes those that are newer than what is stored with the versions that they have. The caller
  // holds the row `store`.
  void load(Session& session);

 private:
  struct Stored {
    Version record_version{};  // 0: there is no such record
    bool has_status = false;
    Epoch epoch{};
    uint64_t sequence = 0;
  };
  using Lines = std::vector<std::pair<const Status*, Version>>;  // with their versions

  Values keys() const;
  void read(Session& session);
  bool wanted(const Status& s, const Stored& stored, const storage::Chain& chain,
              Version head) const;
  void write_statuses(Session& session, const Lines& lines) const;
  static void write_children(Session& session, const Lines& lines);

  const std::vector<Status>& statuses_;
  const int64_t now_;
  std::map<Key, Stored> stored_;
};

// A page of statuses with their children.
Rows read_status_page(Session& session, const StatusRead& request);
void fill_status(const pqxx::row& row, Status& status);

}  // namespace davit::storage_postgres
