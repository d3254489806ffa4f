// What the store would refuse of a change, for a dry run: it must not promise what apply refuses.
// The rules are the store's (abi/storage.h): namespace and name are an id's for its life, and one
// live record has a name. Pure, but for the names that the same request has claimed before.
#pragma once

#include <array>
#include <map>

#include <davit/records.hpp>

namespace davit::desired {

class Foresight {
 public:
  // True: `refusal` must be told who lives under the name now.
  static bool claims_name(const Record& wanted, const std::optional<Record>& stored) {
    return wanted.live && (!stored || !stored->live);
  }
  // Why it would be refused; nothing: it would not. The changes of one request in their order.
  std::optional<Error> refusal(const Record& wanted, const std::optional<Record>& stored,
                               const std::optional<Key>& owner);
  static Error name_taken(const std::string& id);

 private:
  std::map<std::array<std::string, 4>, std::string> claimed_;  // by kind, region, namespace, name
};

}  // namespace davit::desired
