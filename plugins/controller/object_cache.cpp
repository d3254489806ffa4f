#include "object_cache.hpp"

#include <boost/json.hpp>
#include <charconv>

#include <davit/abi/cluster.h>

#include "kubernetes/json.hpp"

namespace davit::controller {

namespace json = boost::json;

namespace {

// Whether a version is older than another of the same object. What cannot be compared is not.
bool older(const std::string& a, const std::string& b) {
  uint64_t x = 0, y = 0;
  const auto first = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto second = std::from_chars(b.data(), b.data() + b.size(), y);
  return first.ec == std::errc() && second.ec == std::errc() && x < y;
}

}  // namespace

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
      relisting_ = true;
      unreadable_ = 0;
      for (auto& [key, held] : objects_) held.seen = held.own = false;
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
  // Whoever goes on where it was is complete again.
  if ((state_ == State::troubled || state_ == State::refused) && !relisting_)
    state_ = State::complete;
  const auto it = objects_.find(shown.key);
  if (it != objects_.end() && it->second.own &&
      older(shown.held.resource_version, it->second.resource_version)) {
    it->second.seen = true;
    return changed;
  }
  if (type == DAVIT_WATCH_DELETED) {
    if (it == objects_.end()) return changed;
    objects_.erase(it);
  } else {
    shown.held.seen = true;
    const bool same = it != objects_.end() && *it->second.text == *shown.held.text;
    objects_[shown.key] = std::move(shown.held);
    if (same) return changed;
  }
  changed.push_back(std::move(shown.key));
  return changed;
}

void ObjectCache::synced(std::string_view object, std::vector<std::string>& changed) {
  boost::system::error_code bad;
  const json::value value = json::parse(json::string_view(object.data(), object.size()), bad);
  const bool installed = !bad && !kubernetes::text_at(value, "/metadata/resourceVersion").empty();
  if (!installed) {
    state_ = State::absent;
    relisting_ = true;  // what is kept is not known to be there when it is installed again
    for (auto& [key, held] : objects_) held.seen = held.own = false;
    return;
  }
  if (relisting_) {
    for (auto it = objects_.begin(); it != objects_.end();) {
      if (it->second.seen) {
        ++it;
        continue;
      }
      changed.push_back(it->first);
      it = objects_.erase(it);
    }
  }
  relisting_ = false;
  state_ = State::complete;
  why_.clear();
}

void ObjectCache::put(std::string_view object) {
  Read own;
  if (!read(object, own)) return;
  const auto it = objects_.find(own.key);
  if (it == objects_.end() || it->second.uid != own.held.uid) return;
  if (older(own.held.resource_version, it->second.resource_version)) return;
  own.held.own = own.held.resource_version != it->second.resource_version;
  own.held.seen = it->second.seen;
  it->second = std::move(own.held);
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
