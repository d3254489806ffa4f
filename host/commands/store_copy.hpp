// Copies one store into another one by the storage role (abi/storage_move.h). A pass reads what is
// new on the source since the last one. A note in the target says how far the passes are, so a copy
// that was killed goes on. The caller has started both instances: the source to observe it, the
// target to load it. Blocks.
//
//   place() ─▶ catch_up(), while the source's server runs: any number of times
//           └▶ catch_up(), complete(), with the source's server stopped
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <davit/storage.hpp>
#include <davit/storage_move.hpp>

#include "store_fingerprints.hpp"

namespace davit::host {

// How far the passes are. The target keeps it as text.
struct CopyPlace {
  Cursor records, statuses;  // of the source
  // The head of the source when the reading of the records began. What was deleted since is above
  // it, so a purge that is not above it has hidden nothing.
  Version began_at;
  bool operator==(const CopyPlace&) const = default;

  std::string text() const;
  // nullopt: no such text.
  static std::optional<CopyPlace> parse(const std::string& text);
};

class StoreCopy {
 public:
  struct Counts {
    uint64_t records = 0, statuses = 0;
  };
  using Tell = std::function<void(const Counts&, const Head& source)>;

  // `tell` hears how far a pass is after each page.
  StoreCopy(storage::Client source, Tell tell)
      : source_(std::move(source)), tell_(std::move(tell)) {}

  // Whether the source still has all that follows the place. false: the copy must begin anew.
  Result<bool> continues(const CopyPlace& place) const;
  // Reads what follows the place and puts it into the target. Without a target it only looks
  // whether the limits allow all of it.
  struct Target {
    storage::Client store;
    storage::Moves moves;
  };
  Result<Counts> catch_up(CopyPlace& place, const storage::Limits& limits, const Target* target);

  // After a pass, when nobody writes to the source any more.
  struct Completed {
    StoreFingerprints::Counts counts;
    std::string source_digest, copy_digest;
    std::string difference;  // not empty: the first; the copy is not complete
    Head head;
  };
  Result<Completed> complete(const CopyPlace& place, const Target& target) const;

 private:
  Result<> read_records(CopyPlace& place);
  Result<> read_statuses(CopyPlace& place);
  Result<> put(storage::Load load) const;
  Result<> put_agents(const Target& target) const;
  Result<Completed> compare(const Target& target) const;

  storage::Client source_;
  Tell tell_;
  storage::Limits limits_;
  const Target* target_ = nullptr;
  Counts counts_;
};

}  // namespace davit::host
