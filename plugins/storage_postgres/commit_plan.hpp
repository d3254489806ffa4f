// Decides what the groups of one commit change, from what the store has of the records and names
// that they concern. Pure: it asks no database, and the same input gives the same plan.
#pragma once

#include <map>
#include <set>

#include "davit/storage.hpp"
#include "davit/storage_chain.hpp"
#include "intents.hpp"

namespace davit::storage_postgres {

// What the store has of a record, apart from its content.
struct StoredRecord {
  Version version{};  // 0: there is no such record
  bool live = false, name_taken = false;
  std::string ns, name;  // a name stays in the row when another record has taken it
};

// What the store has of everything that the groups concern: the records that they name, those that
// have a name that they name, and the requests with their ids.
struct Concerned {
  std::map<Key, StoredRecord> records;
  std::map<std::string, Version> requests;  // id -> first version
  OpenIntents intents{};
};

class CommitPlan {
 public:
  // `head` is the store's, at the end of the chain, and the versions follow it. The chain and the
  // records of the groups are borrowed.
  CommitPlan(Concerned before, const storage::Chain& chain, Cursor head);

  // Plans all mutations of the group or none. A group that fails does not affect the others.
  GroupResult apply(const Group& group);

  // What is to be written: each record once, at its newest version, in the order of the versions.
  struct Write {
    const Record* record;  // the content; NULL: only version and name_taken change
    Key key;
    StoredRecord row;
    std::string request_id;
  };
  std::vector<Write> writes() const;
  const std::vector<std::pair<std::string, Version>>& new_requests() const { return new_requests_; }
  const std::vector<CarriedOut>& carried_out() const { return carried_out_; }
  Version head() const { return next_ - 1; }
  bool changes() const { return head() != first_head_; }

 private:
  struct Entry {
    StoredRecord row;
    const Record* record = nullptr;
    std::string request_id;
    bool changed = false;
  };
  using Name = std::tuple<std::string, std::string, std::string, std::string>;

  std::optional<Version> repeated(const std::string& request_id, std::optional<Error>& error) const;
  void keep(const Group& group, Version first);
  void free_names(const Group& group);
  std::optional<Error> mutate(const Mutation& m, const std::string& request_id, Version version,
                              Version& actual);
  std::optional<Error> take_name(const Record& r, bool& taken);
  Entry& change(const Key& key);
  void undo();
  static Name name_of(const Key& key, const std::string& ns, const std::string& name);

  std::map<Key, Entry> entries_;
  std::map<Name, std::set<Key>> names_;
  std::map<std::string, Version> requests_;
  OpenIntents intents_;
  std::vector<std::pair<std::string, Version>> new_requests_;
  std::vector<CarriedOut> carried_out_;
  std::vector<std::pair<Key, std::optional<Entry>>> undo_;  // of the group that is being planned
  const storage::Chain& chain_;
  const Incarnation incarnation_;
  const Version first_head_;
  Version next_;
};

}  // namespace davit::storage_postgres
