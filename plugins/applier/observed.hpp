// Observed: the objects that the cluster watches of one kind have shown, by path, each with the
// entries it belongs to. It stands between the watches and the reconciliations. Objects are kept as
// JSON text: it takes a tenth of the memory of a parsed object, and reconcile needs text. Pure;
// used on the applier's strand.
//
// The answers to our own writes are entered, too. An object that we wrote must not look lost
// because its watch lags behind. Once the watch has passed the write, the watch is right.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "controller/picture.hpp"
#include "record_entry.hpp"

namespace davit::applier {

using Text = std::shared_ptr<const std::string>;
using RecordEntries = std::vector<RecordEntry*>;

struct ObservedObject {
  const std::string* path = nullptr;  // the object's key in the cache
  Text text;
  std::string resource_version;  // empty: no state is kept yet
  RecordEntries entries;         // of the records it belongs to: mostly one
  bool foreign = false;          // another region's or kind's: known only so that it is left alone
  uint32_t watch = 0;            // index of the kind's resource
  controller::Picture::Mark mark;
};

class Observed {
 public:
  explicit Observed(size_t watches) : pictures_(watches) {}

  // The watch has shown everything that happened up to this version.
  void passed(uint32_t watch, const std::string& resource_version) {
    pictures_[watch].passed(resource_version);
  }
  // An object that the watch shows. False: the known state is the same or newer, and nothing
  // changed.
  bool put(uint32_t watch, const std::string& path, Text text, const std::string& resource_version,
           RecordEntries entries, bool foreign = false);
  // The answer to a write of ours for this entry (NULL: of an object that several records share).
  // The object goes on belonging to those it belonged to. Also false when the watch has passed the
  // write and does not show the object: then it is gone already.
  bool put_written(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, RecordEntry* entry);
  // Returns the entries that the object belonged to. Empty: the object was not known, is newer than
  // the event, or belonged to no entry.
  RecordEntries remove(const std::string& path, const std::string& resource_version);
  const ObservedObject* find(const std::string& path) const;

  // The watch lists its resource anew. At `synced` the objects that were not listed are removed.
  // `lost` gets the entry of each.
  void restart(uint32_t watch) { pictures_[watch].restart(); }
  void synced(uint32_t watch, const std::function<void(RecordEntry&)>& lost);
  size_t size() const { return objects_.size(); }

 private:
  // A new entry has no content, and counts as not shown by its watch.
  ObservedObject& at(uint32_t watch, const std::string& path);
  bool replace(ObservedObject& object, Text text, const std::string& resource_version,
               RecordEntries entries, bool foreign);
  void detach(ObservedObject& object);
  std::unordered_map<std::string, ObservedObject> objects_;
  std::vector<controller::Picture> pictures_;  // by watch
};

}  // namespace davit::applier
