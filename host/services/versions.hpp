// Judges the versions that a storage gives to commits, because everything else relies on them (S1
// of abi/storage.h). They begin at 1, fit into 63 bits and name their incarnation. No two groups of
// a call share one. In the incarnation that the result names they lie above what was visible before
// the call and not above the head after it. Where a head is in another incarnation, the store was
// restored in between, and the head says nothing of them. Pure.
#pragma once

#include <map>
#include <optional>

#include <davit/records.hpp>

namespace davit::host {

class Versions {
 public:
  explicit Versions(davit_str storage) : storage_(storage) {}

  // After a call of commit: the head of the store, or nothing if it cannot be read.
  void called(std::optional<Cursor> head);
  // Then, of each group that was committed in the call: the fault in its answer, or nothing.
  std::optional<Error> judge(Cursor first, const Group& group);

 private:
  Error wrong(const std::string& what) const;

  const davit_str storage_;
  std::optional<Cursor> before_, after_;  // the head before and after the call
  std::map<Cursor, Version> taken_;       // last version of a group of the call -> its first
};

}  // namespace davit::host
