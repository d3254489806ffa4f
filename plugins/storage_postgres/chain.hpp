// The store's history as a chain of incarnations, as the table `incarnations` has it. A cursor
// names the incarnation in which its version was read, and is good up to the end of that
// incarnation.
#pragma once

#include "davit/records.hpp"

namespace davit::storage_postgres {

class Chain {
 public:
  // An incarnation, and the first versions that it may give.
  struct Link {
    Incarnation incarnation;
    Version first_version, first_status_version;
  };
  // Each snapshot's begin sends the chain to agents, in some 20 bytes a link. A cursor that is
  // older than so many begins anew.
  static constexpr size_t links_max = 1'000;

  explicit Chain(std::vector<Link> links) : links_(std::move(links)) {}

  Incarnation current() const { return links_.empty() ? 0 : links_.back().incarnation; }
  // `head` is the newest version, at which the last incarnation ends so far.
  History history(Version head) const;

  // OUT_OF_RANGE: nothing can be read after this cursor. `head` is the newest version.
  Result<> accept(Cursor cursor, Version head) const {
    return accept(cursor, head, &Link::first_version);
  }
  Result<> accept_status(Cursor cursor, Version status_head) const {
    return accept(cursor, status_head, &Link::first_status_version);
  }

 private:
  using First = Version Link::*;
  Result<> accept(Cursor cursor, Version head, First first) const;
  Version end_of(size_t link, Version head, First first) const;
  std::vector<Link> links_;
};

// OUT_OF_RANGE: tombstones above the cursor may have been purged. A cursor of version 0 reads
// everything that exists, and is always accepted. The reader does not want deleted records up to
// `dead_after`.
Result<> above_purge_mark(Version cursor_version, Version dead_after, Version purged_through);

}  // namespace davit::storage_postgres
