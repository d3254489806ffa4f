// Counts the live records that a snapshot named. The Pager puts the number into the bookmark at the
// snapshot's end.
//
// The number is defined so that the receiver can compute it from what it received: *the distinct
// ids whose last change in this snapshot was an apply or a hold*. That is the number of live
// records of the kind and region as of the end bookmark's version: a snapshot sends each record
// that is live then at its last version, and the tombstone of each record that was deleted during
// the scan.
//
// A snapshot names a record twice only when the record changed during the scan. The second version
// is then above the begin bookmark's. So a record at or below that version costs 8 bytes, and only
// the few others are kept in full. Both are kept by page, so streams that share a page share them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <davit/number.hpp>

namespace davit::streamer {

// The records that one page named. Immutable once sealed.
class PageNames {
 public:
  explicit PageNames(Version begin_version) : begin_(begin_version) {}

  void add(std::string_view id, Version version, bool live);
  void seal();
  size_t bytes() const;
  // True when the page may have named `id` as live or changed. An equal hash counts as named.
  bool has(std::string_view id) const;
  bool operator==(const PageNames&) const = default;

 private:
  friend class LiveCount;
  bool has_unchanged(std::string_view id) const;  // needs seal()

  Version begin_;
  std::vector<uint64_t> unchanged_;  // hashes of ids that were live at the begin version
  std::vector<std::pair<std::string, bool>> changed_;  // id and whether it is live, in order
};

class LiveCount {
 public:
  // Takes the pages in the order of the snapshot, each sealed.
  void take(std::shared_ptr<const PageNames> page) { pages_.push_back(std::move(page)); }
  uint64_t total() const;

 private:
  std::vector<std::shared_ptr<const PageNames>> pages_;
};

}  // namespace davit::streamer
