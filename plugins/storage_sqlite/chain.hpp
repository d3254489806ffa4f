// The store's history as a chain of incarnations. Every open of the store appends one, because a
// file cannot prove that it is not an older copy of itself. A cursor names the incarnation in which
// its version was read, and is valid only up to the end of that incarnation. A file that was copied
// back from a backup lacks the later incarnations, so their cursors are refused. Records and
// statuses have versions of their own, and so ends of their own.
#pragma once

#include "davit/records.hpp"

namespace davit::storage_sqlite {

class Chain {
 public:
  // An incarnation, and the first versions that it may give.
  struct Link {
    Incarnation incarnation;
    Version first_version, first_status_version;
  };
  // A server that crashes again and again must not make the chain longer for ever: each snapshot's
  // begin sends all of it, in some 20 bytes a link. A cursor older than so many opens begins anew.
  static constexpr size_t links_max = 1'000;

  // In the order of the opens.
  void append(Link link) { links_.push_back(link); }
  // Forgets the oldest links above links_max.
  void trim();
  const Link& last() const { return links_.back(); }
  Incarnation current() const { return links_.back().incarnation; }
  bool has(Incarnation incarnation) const;
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

}  // namespace davit::storage_sqlite
