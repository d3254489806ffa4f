#include "observed.hpp"

#include <algorithm>

#include "object.hpp"

namespace davit::applier {

bool Observed::put(uint32_t watch, const std::string& path, Text text,
                   const std::string& resource_version, RecordEntries entries, bool foreign) {
  ObservedObject& object = at(watch, path);
  object.round = rounds_[watch];
  // A new list is newer than everything that was known when it began, except our writes since then.
  if (in_picture_[watch] && object.written != rounds_[watch])
    return replace(object, std::move(text), resource_version, std::move(entries), foreign);
  return set(object, std::move(text), resource_version, std::move(entries), foreign);
}

bool Observed::put_written(uint32_t watch, const std::string& path, Text text,
                           const std::string& resource_version, RecordEntry* entry) {
  if (find(path) == nullptr && has_passed(watch, resource_version)) return false;
  ObservedObject& object = at(watch, path);
  object.written = rounds_[watch];
  RecordEntries entries = object.entries;
  if (entry != nullptr && std::find(entries.begin(), entries.end(), entry) == entries.end())
    entries.push_back(entry);
  return set(object, std::move(text), resource_version, std::move(entries), false);
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
                   RecordEntries entries, bool foreign) {
  if (object.text != nullptr) {
    if (object.resource_version == resource_version ||
        !not_older(resource_version, object.resource_version)) {
      return false;
    }
  }
  return replace(object, std::move(text), resource_version, std::move(entries), foreign);
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
  if (it == objects_.end() || !not_older(resource_version, it->second.resource_version)) return {};
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
