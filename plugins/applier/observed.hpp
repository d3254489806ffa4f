// Observed: what the cluster watches of one kind have shown, by path, each object with the slot it
// belongs to. Objects are kept as JSON text: a tenth of what a parsed one takes, and reconcile
// wants text. Pure; on the applier's strand.
//
// Our own writes are put in as they are answered: a watch that lags behind them must not make them
// look lost, and one that has passed them knows better.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "slot.hpp"

namespace davit::applier {

using Text = std::shared_ptr<const std::string>;

struct ObservedObject {
  const std::string* path = nullptr;  // its key in the cache
  Text text;
  std::string resource_version;
  Slot* slot = nullptr;  // NULL: nobody's (a shared object)
  bool foreign = false;  // another region's: known only so that it is left alone
  uint32_t watch = 0;    // which of the kind's resources it is
  uint32_t round = 0;    // of the watch, when it was last shown
  uint32_t written = 0;  // the same, when we wrote it last
};

class Observed {
 public:
  explicit Observed(size_t watches)
      : rounds_(watches, 0), passed_(watches, 0), in_picture_(watches, false) {}

  // The watch has shown all that happened up to this version.
  void passed(uint32_t watch, const std::string& resource_version);
  // What the watch shows. False: what is known is the same or newer, nothing changed.
  bool put(uint32_t watch, const std::string& path, Text text, const std::string& resource_version,
           Slot* slot, bool foreign = false);
  // The answer to a write of ours. False as well: the watch has passed it and does not show it, so
  // it is gone already.
  bool put_written(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, Slot* slot);
  // The slot it belonged to; NULL when it was not known, is newer than the event, or belonged to
  // none.
  Slot* remove(const std::string& path, const std::string& resource_version);
  const ObservedObject* find(const std::string& path) const;

  // Initial events begin anew: each takes the place of what is known, whatever its version says,
  // and what they do not show until `synced` is gone. `lost` gets the slot of each. A restored
  // store of the API server counts its versions from an earlier one.
  void restart(uint32_t watch) {
    ++rounds_[watch];
    passed_[watch] = 0;
    in_picture_[watch] = true;
  }
  void synced(uint32_t watch, const std::function<void(Slot&)>& lost);
  size_t size() const { return objects_.size(); }

 private:
  // What is new is nothing yet, and not shown by its watch.
  ObservedObject& at(uint32_t watch, const std::string& path);
  bool set(ObservedObject& object, Text text, const std::string& resource_version, Slot* slot,
           bool foreign);
  bool replace(ObservedObject& object, Text text, const std::string& resource_version, Slot* slot,
               bool foreign);
  bool has_passed(uint32_t watch, const std::string& resource_version) const;
  void detach(ObservedObject& object);
  std::unordered_map<std::string, ObservedObject> objects_;
  std::vector<uint32_t> rounds_;
  std::vector<uint64_t> passed_;  // resource versions, by watch
  std::vector<bool> in_picture_;  // between restart and synced, by watch
};

}  // namespace davit::applier
