// What region_copy knows of its two regions, and what follows from it: which records of the second
// region have to change so that they are equal to those of the first. Pure: it knows no clock,
// socket or thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include <davit/records_role.hpp>

namespace region_copy {

using davit::Record;

// A copy carries this annotation, with the region it is a copy of. What does not carry it is not
// ours: it is neither changed nor deleted.
inline constexpr const char* copied_from = "region-copy/from";

class Picture {
 public:
  Picture(std::string kind, std::string from, std::string to)
      : kind_(std::move(kind)), from_(std::move(from)), to_(std::move(to)) {}

  // A record as it is now, of either region.
  void record(const Record& r) {
    auto& records = r.key.region == from_ ? source_ : copies_;
    if (r.state == "deleted") {
      records.erase(r.key.id);
    } else {
      records[r.key.id] = r;
    }
    changed_.insert(r.key.id);
  }
  // All is unknown again. Nothing follows before the regions have been named anew.
  void forget() { *this = Picture(kind_, from_, to_); }

  // What has to be done about one of the records that changed since; nothing: it is as it should
  // be, or it is not ours. `foreign` becomes its id in that case.
  std::optional<davit::records::Document> next(std::string& foreign) {
    while (!changed_.empty()) {
      const std::string id = changed_.extract(changed_.begin()).value();
      const auto source = source_.find(id), copy = copies_.find(id);
      const bool exists = copy != copies_.end();
      if (exists && !is_ours(copy->second)) {
        if (source != source_.end()) foreign = id;
      } else if (source == source_.end()) {
        if (exists) return davit::records::deletion({kind_, to_, id}, copy->second.version);
      } else if (!exists || !is_equal(source->second, copy->second)) {
        return copy_of(source->second, exists ? copy->second.version : davit::Version());
      }
    }
    return std::nullopt;
  }
  // The record has to be looked at again.
  void again(const std::string& id) { changed_.insert(id); }

 private:
  davit::Pairs annotations_of(const Record& source) const {
    std::map<std::string, std::string> all(source.annotations.begin(), source.annotations.end());
    all[copied_from] = from_;
    return {all.begin(), all.end()};
  }
  bool is_ours(const Record& copy) const {
    for (const auto& [key, value] : copy.annotations) {
      if (key == copied_from) return value == from_;
    }
    return false;
  }
  bool is_equal(const Record& source, const Record& copy) const {
    return source.json == copy.json && source.state == copy.state &&
           annotations_of(source) == copy.annotations;
  }
  davit::records::Document copy_of(const Record& source, davit::Version expect) const {
    return {{kind_, to_, source.key.id}, source.state, source.json, annotations_of(source), expect};
  }

  std::string kind_, from_, to_;
  std::map<std::string, Record> source_, copies_;  // by id
  std::set<std::string> changed_;                  // ids to look at
};

}  // namespace region_copy
