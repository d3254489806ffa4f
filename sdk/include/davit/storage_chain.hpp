// A store's history as a chain of incarnations (abi/storage.h, S10), for backends. A cursor names
// the incarnation in which its version was read, and is valid only up to the end of that
// incarnation. A store that was restored from an older copy of itself lacks the later incarnations,
// so their cursors are refused. Records and statuses have versions of their own, and so ends of
// their own. The backend decides when an incarnation begins, and keeps the links.
#pragma once

#include "records.hpp"

namespace davit::storage {

// One thread at a time; any number of them while it is const.
class Chain {
 public:
  // An incarnation, and the first versions that it may give.
  struct Link {
    Incarnation incarnation;
    Version first_version, first_status_version;
  };
  // A store that begins one incarnation after another must not make the chain longer for ever: each
  // snapshot's begin sends all of it, in some 20 bytes a link. A cursor that is older than so many
  // begins anew.
  static constexpr size_t links_max = 1'000;

  // In the order in which they began.
  void append(Link link) { links_.push_back(link); }
  // Forgets the oldest links above links_max.
  void trim() {
    if (links_.size() <= links_max) return;
    links_.erase(links_.begin(), links_.end() - static_cast<std::ptrdiff_t>(links_max));
  }
  // Of a chain that has a link.
  const Link& last() const { return links_.back(); }
  // The incarnation that goes on; 0: there is none yet.
  Incarnation current() const { return links_.empty() ? Incarnation() : last().incarnation; }
  bool has(Incarnation incarnation) const {
    return std::any_of(links_.begin(), links_.end(),
                       [&](const Link& link) { return link.incarnation == incarnation; });
  }

  // `head` is the newest version, at which the last incarnation ends so far.
  History history(Version head) const {
    History out;
    for (size_t i = 0; i < links_.size(); ++i)
      out.push_back({links_[i].incarnation, end_of(i, head, &Link::first_version)});
    return out;
  }
  // OUT_OF_RANGE: nothing can be read after this cursor. `head` is the newest version.
  Result<> accept(Cursor cursor, Version head) const {
    return accept(cursor, head, &Link::first_version);
  }
  Result<> accept_status(Cursor cursor, Version status_head) const {
    return accept(cursor, status_head, &Link::first_status_version);
  }
  // Whether the version that a mutation expects is one that the store has not lost (S5). `head` is
  // the newest version.
  bool keeps_what_is_expected(const Mutation& m, Version head) const {
    if (!m.expect || m.expect == any_version || !m.expect_incarnation) return true;
    return accept({m.expect_incarnation, m.expect}, head).ok();
  }

 private:
  using First = Version Link::*;
  Version end_of(size_t i, Version head, First first) const {
    return i + 1 < links_.size() ? links_[i + 1].*first - 1 : head;
  }
  Result<> accept(Cursor cursor, Version head, First first) const {
    if (!cursor.version) return {};
    // Searches from the newest link, because nearly all cursors are there.
    for (size_t i = links_.size(); i-- > 0;) {
      if (links_[i].incarnation != cursor.incarnation) continue;
      const Version end = end_of(i, head, first);
      if (cursor.version <= end) return {};
      return Error{Code::out_of_range, "cursor " + to_string(cursor.version) + " is above " +
                                           to_string(end) + ", where its incarnation ends"};
    }
    return Error{Code::out_of_range,
                 "cursor " + to_string(cursor.version) +
                     " is of another history of this database, or of one that is forgotten"};
  }

  std::vector<Link> links_;
};

// OUT_OF_RANGE: tombstones above the cursor may have been purged. A cursor of version 0 reads
// everything that exists, and is always accepted. The reader does not want deleted records up to
// `dead_after`.
inline Result<> above_purge_mark(Version cursor_version, Version dead_after,
                                 Version purged_through) {
  if (!cursor_version || std::max(cursor_version, dead_after) >= purged_through) return {};
  return Error{Code::out_of_range, "cursor " + to_string(cursor_version) +
                                       " is below the purge mark " + to_string(purged_through)};
}

}  // namespace davit::storage
