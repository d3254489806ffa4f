// Applies groups of mutations within one write transaction. Only this class gives versions, and
// only under the single writer, so a reader that sees version V has seen every version below it.
#pragma once

#include "connection.hpp"
#include "davit/storage.hpp"
#include "davit/storage_chain.hpp"

namespace davit::storage_sqlite {

// What the row of a record has that its mutation does not say.
struct Row {
  Version version;
  int64_t committed_at_unix_ms;
  bool name_taken;
  const std::string &ns, &name, &request_id;
};
// Adds the row. The caller has removed an earlier one of the record.
void insert(Connection& connection, const Record& r, const Row& row);

class Commit {
 public:
  // The caller has begun a write transaction on the connection. `chain` outlives this.
  Commit(Connection& connection, const storage::Chain& chain, int64_t now_unix_ms);

  // Applies all mutations of the group or none. A group that fails does not affect the other
  // groups.
  GroupResult apply(const Group& group);
  // Stores the counter. Call it last before the transaction commits. False: nothing has changed.
  bool finish();
  uint64_t records() const { return next_ - first_; }

 private:
  struct Stored {
    Version version{};  // 0: there is no such record
    bool live = false, name_taken = false;
    std::string ns, name;
  };
  std::optional<Error> mutate(const Mutation& m, const std::string& request_id, Version version,
                              Version& actual);
  Stored stored(const Key& key);
  std::vector<Version> dead_with_names_of(const Group& group);
  void take_names_of(const std::vector<Version>& dead);
  std::optional<Error> take_name(const Record& r, bool& taken);
  void write(const Record& r, const Stored& before, const std::string& request_id, Version version,
             bool name_taken);
  std::optional<Version> repeated(const std::string& request_id, std::optional<Error>& error);
  void forget_requests();

  Connection& connection_;
  const storage::Chain& chain_;
  const int64_t now_;
  Version first_{}, next_{};
};

}  // namespace davit::storage_sqlite
