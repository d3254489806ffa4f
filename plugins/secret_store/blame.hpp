// Blame: whether an item that the Vault refused alone is bad, or the Vault is. The Vault answers
// `internal` both for an item that it cannot decrypt and when its own storage is away. So once so
// many different items were refused and nothing at all was decrypted in between, the Vault is not
// believed any more: the items may be good, and are tried again later. Pure; guarded by a mutex.
#pragma once

#include <set>
#include <vector>

#include "cache.hpp"

namespace davit::secret_store {

class Blame {
 public:
  // As many as one batch tries by itself.
  static constexpr size_t items_max = 16;

  // The Vault has decrypted something.
  void vault_works() { refused_.clear(); }
  // These items were refused. True: they are bad. False: it may be the Vault.
  bool items_are_bad(const std::vector<ItemKey>& refused) {
    for (const ItemKey& key : refused) {
      if (refused_.size() < items_max) refused_.insert(key);
    }
    return refused_.size() < items_max;
  }

 private:
  std::set<ItemKey> refused_;  // since something was decrypted
};

}  // namespace davit::secret_store
