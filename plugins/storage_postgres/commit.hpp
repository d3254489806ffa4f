// The statements of a commit. Throws Faults.
#pragma once

#include "commit_plan.hpp"
#include "session.hpp"

namespace davit::storage_postgres {

class CommitBatch {
 public:
  // The groups are borrowed. `batch` is this commit's own id.
  CommitBatch(const std::vector<Group>& groups, std::string batch);

  // Waits for other sessions that hold the tables, or the rows of the records or of their names,
  // and locks them.
  void wait(Session& session) const;
  // The caller holds the row `store`. Changes `head` to what the store's becomes. `chain` ends with
  // its incarnation.
  std::vector<GroupResult> carry_out(Session& session, const storage::Chain& chain, Head& head);

  uint64_t records() const { return records_; }
  const std::string& id() const { return batch_; }

 private:
  void read_records(Session& session);
  bool has_name(const Record& record) const;
  void keep(const pqxx::result& rows);
  void read_requests(Session& session);
  void write_records(Session& session, const std::vector<CommitPlan::Write>& writes) const;
  void renumber(Session& session, const std::vector<CommitPlan::Write>& writes) const;
  void write_requests(Session& session, const CommitPlan& plan) const;

  const std::vector<Group>& groups_;
  const std::string batch_;
  Concerned concerned_;
  uint64_t records_ = 0;
};

// True: the commit with this id was kept. The caller holds the row `store`, so every commit that
// began before has ended.
bool was_kept(Session& session, const std::string& batch);
// Forgets requests and batches that nobody asks for any more, some at a time. The caller holds the
// row `store`.
void forget_requests(Session& session, Version head);

// A number of 128 bits that nobody else has.
std::string new_batch_id();

}  // namespace davit::storage_postgres
