// Reads a whole store as fingerprints, so that two stores can be compared without holding either:
// all records and statuses in the order of their versions, then what the agents have reported.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>

#include <davit/storage.hpp>

namespace davit::host {

using Sha256 = std::array<unsigned char, 32>;

struct Fingerprint {
  enum class Of { record, status, agent };
  Of of = Of::record;
  Version version;             // 0: of an agent
  std::string what;            // `record deployment "d_1" of region "eu"`
  Sha256 hash{};               // of every field but a record's JSON
  std::optional<Sha256> json;  // nothing: the store does not keep it
};

class StoreFingerprints {
 public:
  // The store is not written meanwhile.
  explicit StoreFingerprints(storage::Client store) : store_(std::move(store)) {}

  // nullopt: there is no more.
  Result<std::optional<Fingerprint>> next();
  // Of all that next() has returned, in hexadecimal.
  std::string digest() const;

  struct Counts {
    uint64_t records = 0, statuses = 0, agents = 0;
    bool operator==(const Counts&) const = default;
  };
  const Counts& counts() const { return counts_; }

 private:
  Result<> read_on();
  Result<> read_records();
  Result<> read_statuses();
  Result<> read_agents();

  storage::Client store_;
  Fingerprint::Of at_ = Fingerprint::Of::record;
  bool begun_ = false, over_ = false;
  Cursor cursor_;
  Version dead_after_;
  std::deque<Fingerprint> page_;
  Sha256 all_{};
  Counts counts_;
};

// How the copy differs from the source; empty: not at all. Both are at the same place.
std::string difference(const std::optional<Fingerprint>& source,
                       const std::optional<Fingerprint>& copy);

}  // namespace davit::host
