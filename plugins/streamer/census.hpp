// Counts the live records a snapshot named, for its end bookmark.
//
// The number is defined so that the receiver can compute it from what it received: *the distinct
// ids whose last change in this snapshot was an apply or a hold*. That is the number of live
// records of the kind and region as of the end bookmark's version, because a snapshot sends every
// record that is live then at its last version, and sends the tombstone of every record that died
// while it was being read.
//
// A record is named twice only when it changed while the snapshot was read, so its second version
// is above the begin bookmark's: what stands at or below it is kept as 8 bytes a record, the few
// others in full.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace davit::streamer {

class Census {
 public:
  explicit Census(uint64_t begin_version = 0) : begin_(begin_version) {}

  void named(std::string_view id, uint64_t version, bool live);
  uint64_t live_count();

 private:
  uint64_t begin_;
  std::vector<uint64_t> unchanged_;  // hashes of ids that were live at the begin version
  std::unordered_map<std::string, bool> changed_;
};

}  // namespace davit::streamer
