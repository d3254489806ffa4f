#include "observed.hpp"

#include <algorithm>

namespace davit::applier {

bool Observed::put(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, RecordEntries entries, bool foreign) {
  ObservedObject& object = at(watch, path);
  return pictures_[watch].shows(object.mark, object.resource_version, resource_version) &&
         replace(object, std::move(text), resource_version, std::move(entries), foreign);
}

bool Observed::put_written(uint32_t watch, const std::string& path, Text text,
                           const std::string& resource_version, RecordEntry* entry) {
  const controller::Picture& picture = pictures_[watch];
  if (find(path) == nullptr && picture.has_passed(resource_version)) return false;
  ObservedObject& object = at(watch, path);
  RecordEntries entries = object.entries;
  if (entry != nullptr && std::find(entries.begin(), entries.end(), entry) == entries.end())
    entries.push_back(entry);
  return picture.writes(object.mark, object.resource_version, resource_version) &&
         replace(object, std::move(text), resource_version, std::move(entries), false);
}

ObservedObject& Observed::at(uint32_t watch, const std::string& path) {
  const auto [it, made] = objects_.try_emplace(path);
  if (made) {
    it->second.path = &it->first;
    it->second.watch = watch;
    it->second.mark = pictures_[watch].begin();
  }
  return it->second;
}

bool Observed::replace(ObservedObject& object, Text text, const std::string& resource_version,
                       RecordEntries entries, bool foreign) {
  if (object.text != nullptr) {
    // A restored store may give the same version to another content, so the text is compared, too.
    if (object.resource_version == resource_version && object.entries == entries &&
        object.foreign == foreign && *object.text == *text) {
      return false;
    }
    if (object.entries != entries) detach(object);
  }
  object.text = std::move(text);
  object.resource_version = resource_version;
  object.foreign = foreign;
  if (object.entries.empty()) {
    for (RecordEntry* entry : entries) entry->objects.push_back(&object);
    object.entries = std::move(entries);
  }
  return true;
}

RecordEntries Observed::remove(const std::string& path, const std::string& resource_version) {
  const auto it = objects_.find(path);
  if (it == objects_.end() || !controller::not_older(resource_version, it->second.resource_version))
    return {};
  RecordEntries entries = it->second.entries;
  detach(it->second);
  objects_.erase(it);
  return entries;
}

const ObservedObject* Observed::find(const std::string& path) const {
  const auto it = objects_.find(path);
  return it == objects_.end() ? nullptr : &it->second;
}

void Observed::synced(uint32_t watch, const std::function<void(RecordEntry&)>& lost) {
  controller::Picture& picture = pictures_[watch];
  picture.synced();
  for (auto it = objects_.begin(); it != objects_.end();) {
    ObservedObject& object = it->second;
    if (object.watch != watch || !picture.lost(object.mark, object.resource_version)) {
      ++it;
      continue;
    }
    const RecordEntries entries = object.entries;
    detach(object);
    it = objects_.erase(it);
    for (RecordEntry* entry : entries) lost(*entry);
  }
}

void Observed::detach(ObservedObject& object) {
  for (RecordEntry* entry : std::exchange(object.entries, {})) std::erase(entry->objects, &object);
}

}  // namespace davit::applier
