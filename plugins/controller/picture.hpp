// Picture: decides which state of an object counts, for a cache that is fed by one watch and by the
// answers to its owner's own writes. Either may be late: a watch shows an object as it was before a
// write, and an answer comes after the watch has shown that its object is gone. Versions order them
// while the watch goes on. When the watch lists anew, the list counts whatever its versions say,
// because a restored store counts its versions from an earlier one. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace davit::controller {

// resourceVersion as a number; 0: it is none. Clients may compare two of the same resource.
uint64_t number_of(std::string_view resource_version);
// Whether `a` is the same as `b` or newer. What cannot be compared counts as newer.
bool not_older(std::string_view a, std::string_view b);

class Picture {
 public:
  // What is remembered of each object: the lists in which it was shown and written last.
  struct Mark {
    uint32_t shown = 0, written = 0;
  };
  // Of an object that the cache has just begun to keep.
  Mark begin() const { return {list_ - 1, list_ - 1}; }

  // The watch lists its resource anew.
  void restart() {
    ++list_;
    passed_ = 0;
    listing_ = true;
  }
  // The list is complete. Then each object of which lost() is true is gone.
  void synced() { listing_ = false; }
  bool listing() const { return listing_; }
  // The watch has shown everything that happened up to this version.
  void passed(std::string_view version) { passed_ = std::max(passed_, number_of(version)); }

  // The watch shows the object in this state. True: it counts. `known` is the version of the state
  // that is kept; empty: none is.
  bool shows(Mark& mark, std::string_view known, std::string_view version) const {
    mark.shown = list_;
    // A list is newer than everything that was known when it began, except the writes since then.
    return (listing_ && mark.written != list_) || newer(known, version);
  }
  // The same of the answer to an own write.
  bool writes(Mark& mark, std::string_view known, std::string_view version) const {
    mark.written = list_;
    return newer(known, version);
  }
  // Whether the watch has shown all that happened up to this version. The answer to a write of an
  // object that is not kept is then about one that has gone.
  bool has_passed(std::string_view version) const {
    const uint64_t number = number_of(version);
    return number != 0 && number <= passed_;
  }
  // At the end of a list: whether the object is not in it. The list need not have what was written
  // after it began. A list without a version means that the resource is not installed: then nothing
  // is left, whenever it was written.
  bool lost(const Mark& mark, std::string_view known) const {
    const bool later = passed_ != 0 && mark.written == list_ && number_of(known) > passed_;
    return mark.shown != list_ && !later;
  }

 private:
  static bool newer(std::string_view known, std::string_view version) {
    return known.empty() || (version != known && not_older(version, known));
  }

  uint32_t list_ = 0;
  uint64_t passed_ = 0;
  bool listing_ = false;
};

}  // namespace davit::controller
