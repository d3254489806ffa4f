#include "observed.hpp"

#include <algorithm>

#include "object.hpp"

namespace davit::applier {

bool Observed::put(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, Slots slots, bool foreign) {
  ObservedObject& object = at(watch, path);
  object.round = rounds_[watch];
  // A new list is newer than everything that was known when it began, except our writes since then.
  if (in_picture_[watch] && object.written != rounds_[watch])
    return replace(object, std::move(text), resource_version, std::move(slots), foreign);
  return set(object, std::move(text), resource_version, std::move(slots), foreign);
}

bool Observed::put_written(uint32_t watch, const std::string& path, Text text,
                           const std::string& resource_version, Slot* slot) {
  if (find(path) == nullptr && has_passed(watch, resource_version)) return false;
  ObservedObject& object = at(watch, path);
  object.written = rounds_[watch];
  Slots slots = object.slots;
  if (slot != nullptr && std::find(slots.begin(), slots.end(), slot) == slots.end())
    slots.push_back(slot);
  return set(object, std::move(text), resource_version, std::move(slots), false);
}

void Observed::passed(uint32_t watch, const std::string& resource_version) {
  passed_[watch] = std::max(passed_[watch], number_of(resource_version));
}

bool Observed::has_passed(uint32_t watch, const std::string& resource_version) const {
  const uint64_t version = number_of(resource_version);
  return version != 0 && version <= passed_[watch];
}

ObservedObject& Observed::at(uint32_t watch, const std::string& path) {
  const auto [it, made] = objects_.try_emplace(path);
  if (made) {
    it->second.path = &it->first;
    it->second.watch = watch;
    it->second.round = it->second.written = rounds_[watch] - 1;
  }
  return it->second;
}

bool Observed::set(ObservedObject& object, Text text, const std::string& resource_version,
                   Slots slots, bool foreign) {
  if (object.text != nullptr) {
    if (object.resource_version == resource_version ||
        !not_older(resource_version, object.resource_version)) {
      return false;
    }
  }
  return replace(object, std::move(text), resource_version, std::move(slots), foreign);
}

bool Observed::replace(ObservedObject& object, Text text, const std::string& resource_version,
                       Slots slots, bool foreign) {
  if (object.text != nullptr) {
    // A restored store may give the same version to another content, so the text is compared, too.
    if (object.resource_version == resource_version && object.slots == slots &&
        object.foreign == foreign && *object.text == *text) {
      return false;
    }
    if (object.slots != slots) detach(object);
  }
  object.text = std::move(text);
  object.resource_version = resource_version;
  object.foreign = foreign;
  if (object.slots.empty()) {
    for (Slot* slot : slots) slot->objects.push_back(&object);
    object.slots = std::move(slots);
  }
  return true;
}

Slots Observed::remove(const std::string& path, const std::string& resource_version) {
  const auto it = objects_.find(path);
  if (it == objects_.end() || !not_older(resource_version, it->second.resource_version)) return {};
  Slots slots = it->second.slots;
  detach(it->second);
  objects_.erase(it);
  return slots;
}

const ObservedObject* Observed::find(const std::string& path) const {
  const auto it = objects_.find(path);
  return it == objects_.end() ? nullptr : &it->second;
}

void Observed::synced(uint32_t watch, const std::function<void(Slot&)>& lost) {
  in_picture_[watch] = false;
  for (auto it = objects_.begin(); it != objects_.end();) {
    ObservedObject& object = it->second;
    // The list need not have what we wrote after it began. A list without a version means that the
    // resource is no longer installed: then nothing is left, whenever it was written.
    const bool later = passed_[watch] != 0 && object.written == rounds_[watch] &&
                       number_of(object.resource_version) > passed_[watch];
    if (object.watch != watch || object.round == rounds_[watch] || later) {
      ++it;
      continue;
    }
    const Slots slots = object.slots;
    detach(object);
    it = objects_.erase(it);
    for (Slot* slot : slots) lost(*slot);
  }
}

void Observed::detach(ObservedObject& object) {
  for (Slot* slot : std::exchange(object.slots, {})) std::erase(slot->objects, &object);
}

}  // namespace davit::applier
