#include "observed.hpp"

#include <algorithm>

#include "object.hpp"

namespace davit::applier {

bool Observed::put(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, Slot* slot, bool foreign) {
  const auto [it, made] = objects_.try_emplace(path);
  ObservedObject& object = it->second;
  object.round = rounds_[watch];
  if (!made) {
    if (object.resource_version == resource_version ||
        !not_older(resource_version, object.resource_version)) {
      return false;
    }
    if (object.slot != slot) detach(object);
  }
  object.path = &it->first;
  object.text = std::move(text);
  object.resource_version = resource_version;
  object.watch = watch;
  object.foreign = foreign;
  if (slot != nullptr && object.slot == nullptr) slot->objects.push_back(&object);
  object.slot = slot;
  return true;
}

Slot* Observed::remove(const std::string& path, const std::string& resource_version) {
  const auto it = objects_.find(path);
  if (it == objects_.end() || !not_older(resource_version, it->second.resource_version))
    return nullptr;
  Slot* slot = it->second.slot;
  detach(it->second);
  objects_.erase(it);
  return slot;
}

const ObservedObject* Observed::find(const std::string& path) const {
  const auto it = objects_.find(path);
  return it == objects_.end() ? nullptr : &it->second;
}

void Observed::synced(uint32_t watch, const std::function<void(Slot&)>& lost) {
  for (auto it = objects_.begin(); it != objects_.end();) {
    ObservedObject& object = it->second;
    if (object.watch != watch || object.round == rounds_[watch]) {
      ++it;
      continue;
    }
    Slot* slot = object.slot;
    detach(object);
    it = objects_.erase(it);
    if (slot != nullptr) lost(*slot);
  }
}

void Observed::detach(ObservedObject& object) {
  if (object.slot == nullptr) return;
  auto& all = object.slot->objects;
  all.erase(std::remove(all.begin(), all.end(), &object), all.end());
  object.slot = nullptr;
}

}  // namespace davit::applier
