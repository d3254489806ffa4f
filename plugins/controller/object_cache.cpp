#include "object_cache.hpp"

#include <boost/json.hpp>

#include <davit/abi/cluster.h>

#include "kubernetes/json.hpp"

namespace davit::controller {

namespace json = boost::json;

std::string key_of(std::string_view ns, std::string_view name) {
  return std::string(ns) + "/" + std::string(name);
}

std::pair<std::string, std::string> split_key(const std::string& key) {
  const size_t slash = std::min(key.find('/'), key.size());
  return {key.substr(0, slash), key.substr(std::min(slash + 1, key.size()))};
}

bool ObjectCache::read(std::string_view object, Read& out) const {
  boost::system::error_code bad;
  json::value value = json::parse(json::string_view(object.data(), object.size()), bad);
  if (bad || !value.is_object()) return false;
  const json::object* meta = kubernetes::object_in(value.get_object(), "metadata");
  const auto name = kubernetes::text_in(meta, "name");
  if (name.empty()) return false;
  out.key = key_of(kubernetes::text_in(meta, "namespace"), name);
  out.held.uid = kubernetes::text_in(meta, "uid");
  out.held.resource_version = kubernetes::text_in(meta, "resourceVersion");
  if (reduce_) reduce_(value.get_object());
  std::string text = json::serialize(value);
  text.shrink_to_fit();
  out.held.text = std::make_shared<const std::string>(std::move(text));
  return true;
}

std::vector<std::string> ObjectCache::event(int32_t type, std::string_view object) {
  std::vector<std::string> changed;
  switch (type) {
    case DAVIT_WATCH_RESTART:
      picture_.restart();
      unreadable_ = 0;
      if (state_ == State::complete) state_ = State::listing;
      return changed;
    case DAVIT_WATCH_SYNCED:
      synced(object, changed);
      return changed;
    case DAVIT_WATCH_TROUBLE:
    case DAVIT_WATCH_REFUSED:
      state_ = type == DAVIT_WATCH_TROUBLE ? State::troubled : State::refused;
      why_ = object;
      return changed;
    default:
      break;
  }
  Read shown;
  if (!read(object, shown)) {
    ++unreadable_;
    return changed;
  }
  // Whoever goes on where it was is complete again. The end of a refusal is said (SYNCED).
  if (state_ == State::troubled && !picture_.listing()) state_ = State::complete;
  picture_.passed(shown.held.resource_version);
  if (take(type, shown)) changed.push_back(std::move(shown.key));
  return changed;
}

// Whether the object has changed.
bool ObjectCache::take(int32_t type, Read& shown) {
  const auto it = objects_.find(shown.key);
  const std::string& version = shown.held.resource_version;
  if (type == DAVIT_WATCH_DELETED) {
    if (it == objects_.end() || !not_older(version, it->second.resource_version)) return false;
    objects_.erase(it);
    return true;
  }
  if (it == objects_.end()) {
    shown.held.mark = picture_.begin();
    picture_.shows(shown.held.mark, {}, version);
    objects_.emplace(shown.key, std::move(shown.held));
    return true;
  }
  Held& known = it->second;
  if (!picture_.shows(known.mark, known.resource_version, version)) return false;
  shown.held.mark = known.mark;
  const bool same = *known.text == *shown.held.text;
  known = std::move(shown.held);
  return !same;
}

void ObjectCache::synced(std::string_view object, std::vector<std::string>& changed) {
  boost::system::error_code bad;
  const json::value value = json::parse(json::string_view(object.data(), object.size()), bad);
  const auto version =
      bad ? std::string_view() : kubernetes::text_at(value, "/metadata/resourceVersion");
  if (version.empty()) {
    state_ = State::absent;
    picture_.restart();  // what is kept is not known to be there when it is installed again
    return;
  }
  picture_.passed(version);
  for (auto it = objects_.begin(); picture_.listing() && it != objects_.end();) {
    if (!picture_.lost(it->second.mark, it->second.resource_version)) {
      ++it;
      continue;
    }
    changed.push_back(it->first);
    it = objects_.erase(it);
  }
  picture_.synced();
  state_ = State::complete;
  why_.clear();
}

void ObjectCache::put(std::string_view object) {
  Read own;
  if (!read(object, own)) return;
  const auto it = objects_.find(own.key);
  if (it == objects_.end() || it->second.uid != own.held.uid) return;
  Held& known = it->second;
  if (!picture_.writes(known.mark, known.resource_version, own.held.resource_version)) return;
  own.held.mark = known.mark;
  known = std::move(own.held);
}

std::string ObjectCache::reason() const {
  switch (state_) {
    case State::unlisted:
      return "its first list has not come";
    case State::listing:
      return "it is being listed anew";
    case State::troubled:
      return "its watch is interrupted: " + why_;
    case State::refused:
      return "its watch is refused: " + why_;
    case State::absent:
      return "the resource is not installed";
    case State::complete:
      break;
  }
  if (unreadable_ > 0) return std::to_string(unreadable_) + " objects cannot be read";
  return {};
}

ObjectCache::Text ObjectCache::find(const std::string& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : it->second.text;
}

std::vector<std::string> ObjectCache::keys() const {
  std::vector<std::string> out;
  out.reserve(objects_.size());
  for (const auto& [key, held] : objects_) out.push_back(key);
  return out;
}

}  // namespace davit::controller
