// Foresees which changes the store would refuse, for a dry run: a dry run must not promise what
// Apply refuses. The rules are the store's (abi/storage.h): an id keeps its namespace and name for
// its life, and only one live record has a name. Pure; it remembers the names that earlier changes
// of the same request claim or give up.
#pragma once

#include <array>
#include <map>
#include <set>

#include <davit/records.hpp>

namespace davit::desired {

class CommitPreview {
 public:
  // True: refusal() needs the key of the live record that has the name now.
  static bool claims_name(const Record& wanted, const std::optional<Record>& stored) {
    return wanted.live && (!stored || !stored->live);
  }
  // Why the store would refuse the change; nothing: it would not. `owner`: the live record that has
  // the name. Called for the changes of one request in their order.
  std::optional<Error> refusal(const Record& wanted, const std::optional<Record>& stored,
                               const std::optional<Key>& owner);
  // True: an earlier change ends the life of this record, and its name is free.
  bool frees_name_of(const Key& key) const { return freed_.contains(key); }
  static Error name_taken(const std::string& id);

 private:
  std::map<std::array<std::string, 4>, std::string> claimed_;  // by kind, region, namespace, name
  std::set<Key> freed_;
};

}  // namespace davit::desired
