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
// others in full. They are kept by page, so that streams that share a page share this, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace davit::streamer {

// Whom one page named. Immutable once it is sealed.
class PageNames {
 public:
  explicit PageNames(uint64_t begin_version) : begin_(begin_version) {}

  void add(std::string_view id, uint64_t version, bool live);
  void seal();
  size_t bytes() const;
  // Whether the page may have named it: a hash says so, too.
  bool has(std::string_view id) const;
  bool operator==(const PageNames&) const = default;

 private:
  friend class Census;
  bool has_unchanged(std::string_view id) const;  // sealed

  uint64_t begin_;
  std::vector<uint64_t> unchanged_;  // hashes of ids that were live at the begin version
  std::vector<std::pair<std::string, bool>> changed_;  // id and whether it lives, in order
};

class Census {
 public:
  // The pages in their order, each sealed.
  void take(std::shared_ptr<const PageNames> page) { pages_.push_back(std::move(page)); }
  uint64_t live_count() const;

 private:
  std::vector<std::shared_ptr<const PageNames>> pages_;
};

}  // namespace davit::streamer
