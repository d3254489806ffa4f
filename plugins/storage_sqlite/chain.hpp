// The store's history as a chain of incarnations: every open appends one. A cursor says which
// incarnation its version was read in and is good only up to where that incarnation ended; a file
// that was copied back from a backup lacks the incarnations since, so their cursors are refused.
#pragma once

#include "davit/records.hpp"

namespace davit::storage_sqlite {

class Chain {
 public:
  // first_version: the first that this incarnation may give. In the order of the opens.
  void append(uint64_t incarnation, uint64_t first_version);
  uint64_t current() const { return links_.back().incarnation; }
  bool has(uint64_t incarnation) const;
  // `head` is the newest version: where the last incarnation ends so far.
  History history(uint64_t head) const;

  // OUT_OF_RANGE when nothing can be read after this cursor. `head` is the newest version.
  Result<> accept(Cursor cursor, uint64_t head) const;

 private:
  struct Link {
    uint64_t incarnation, first_version;
  };
  uint64_t end_of(size_t link, uint64_t head) const;
  std::vector<Link> links_;
};

// OUT_OF_RANGE when tombstones above the cursor may have been purged. Version 0 reads everything
// there is, and dead records up to dead_after are of no interest to the reader.
Result<> above_purge_mark(uint64_t cursor_version, uint64_t dead_after, uint64_t purged_through);

}  // namespace davit::storage_sqlite
