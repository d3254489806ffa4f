// Applies and deletes, for operators and for controllers alike: the checks of a document, the
// decision and the commit are the same for both. change_calls.cpp serves the operator's methods
// with it, controllers.cpp the role records.
#pragma once

#include <davit/records_role_values.hpp>

#include "mutations.hpp"
#include "shared.hpp"

namespace davit::desired {

struct Changes {
  std::vector<records::Document> documents;
  std::string author;
  std::string caller;      // whose request ids they are
  std::string request_id;  // may be empty
  bool dry_run = false;
  bool again = false;     // an unchanged record is committed with a new version
  bool together = false;  // one group; otherwise each document is a group of its own
  uint64_t intent = 0;    // that the one group carries out; 0: none
  // In which incarnation each document's `expect` was read; fewer than documents: not known.
  std::vector<Incarnation> expected_in{};
  bool unchanged_will_do = false;  // what asks for what is stored need not expect its version
};

// `done` gets one outcome a document, in their order, on a thread of the storage's pool. A request
// id that cannot be is the whole call's error. `storage` is under the call's op, which lives until
// then. [any]
void change(Shared& shared, const storage::Client& storage, Changes changes,
            std::function<void(Result<std::vector<Outcome>>)> done);

}  // namespace davit::desired
