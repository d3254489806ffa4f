#include "store.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/times.hpp"

namespace davit::cluster_memory {
namespace {

namespace json = boost::json;

// True if only fields differ that every write changes.
bool same_content(const json::object& a, const json::object& b) {
  auto plain = [](const json::object& o) {
    json::object copy = o;
    auto& meta = object_in(copy, "metadata");
    meta.erase("resourceVersion");
    // The time of an entry in managedFields is no content.
    if (auto* fields = meta.if_contains("managedFields"); fields != nullptr && fields->is_array()) {
      for (auto& f : fields->get_array()) {
        if (f.is_object()) f.get_object().erase("time");
      }
    }
    return copy;
  };
  return plain(a) == plain(b);
}

// True if a change needs no new generation: only metadata and status differ.
bool same_spec(const json::object& a, const json::object& b) {
  auto plain = [](const json::object& o) {
    json::object copy = o;
    copy.erase("metadata");
    copy.erase("status");
    return copy;
  };
  return plain(a) == plain(b);
}

bool has_finalizers(const json::object& o) {
  const auto* f = at(o, {"metadata", "finalizers"});
  return f != nullptr && f->is_array() && !f->get_array().empty();
}

void copy_member(const json::object& from, json::object& to, std::string_view key) {
  if (const auto* v = from.if_contains(key)) {
    to[key] = *v;
  } else {
    to.erase(key);
  }
}

}  // namespace

const json::value* at(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::object* o = &object;
  const json::value* v = nullptr;
  for (auto key : path) {
    if (o == nullptr) return nullptr;
    v = o->if_contains(key);
    o = v == nullptr ? nullptr : v->if_object();
    if (v == nullptr) return nullptr;
  }
  return v;
}

const json::object* object_at(const json::object& object,
                              std::initializer_list<std::string_view> path) {
  const auto* v = at(object, path);
  return v == nullptr ? nullptr : v->if_object();
}

std::string_view string_at(const json::object& object,
                           std::initializer_list<std::string_view> path) {
  return kubernetes::text_of(at(object, path));
}

json::object& object_in(json::object& object, std::string_view key) {
  auto& v = object[key];
  return v.is_object() ? v.get_object() : v.emplace_object();
}

Object Store::find(const Key& key) const {
  auto c = objects_.find(key.collection);
  if (c == objects_.end()) return nullptr;
  auto it = c->second.find({key.ns, key.name});
  return it == c->second.end() ? nullptr : it->second;
}

std::vector<Object> Store::list(const Collection& collection, std::string_view ns) const {
  std::vector<Object> out;
  auto c = objects_.find(collection);
  if (c == objects_.end()) return out;
  auto it = ns.empty() ? c->second.begin() : c->second.lower_bound({std::string(ns), ""});
  for (; it != c->second.end() && (ns.empty() || it->first.first == ns); ++it)
    out.push_back(it->second);
  return out;
}

std::vector<Key> Store::dependents(const std::string& uid) const {
  auto it = owned_by_.find(uid);
  if (it == owned_by_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

void Store::index(const Key& key, const Object& object, bool add) {
  const auto* owners = at(*object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const auto& o : owners->get_array()) {
    if (!o.is_object()) continue;
    const std::string uid(string_at(o.get_object(), {"uid"}));
    if (add) {
      owned_by_[uid].insert(key);
      if (!uids_.contains(uid)) ownerless_.insert(key);
    } else if (auto it = owned_by_.find(uid); it != owned_by_.end()) {
      it->second.erase(key);
      if (it->second.empty()) owned_by_.erase(it);
    }
  }
}

bool Store::is_ownerless(const json::object& object) const {
  const auto* owners = at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array() || owners->get_array().empty()) return false;
  const auto& all = owners->get_array();
  return std::none_of(all.begin(), all.end(), [&](const json::value& o) {
    return o.is_object() && uids_.contains(std::string(string_at(o.get_object(), {"uid"})));
  });
}

void Store::collect_garbage(int64_t now_ms) {
  for (const Key& key : std::exchange(ownerless_, {})) {
    const Object object = find(key);
    if (object != nullptr && is_ownerless(*object)) remove(key, false, now_ms);
  }
}

void Store::emit(Event event) {
  history_.push_back(event);
  if (history_.size() > history_limit) {
    forgotten_ = history_.front().version;
    history_.pop_front();
  }
  fresh_.push_back(std::move(event));
}

Object Store::add(const Key& key, json::object object, int64_t now_ms) {
  auto& meta = object_in(object, "metadata");
  meta["name"] = key.name;
  if (!key.ns.empty()) meta["namespace"] = key.ns;
  meta["uid"] = make_uid(random_);
  meta["creationTimestamp"] = kubernetes::time_text(now_ms);
  meta["generation"] = 1;
  meta["resourceVersion"] = std::to_string(++version_);
  meta.erase("deletionTimestamp");
  uids_.emplace(string_at(meta, {"uid"}));
  auto stored = std::make_shared<const json::object>(std::move(object));
  objects_[key.collection][{key.ns, key.name}] = stored;
  index(key, stored, true);
  emit({version_, key, nullptr, stored});
  return stored;
}

Object Store::replace(const Key& key, json::object object, int64_t now_ms) {
  const Object old = find(key);
  const auto& old_meta = *object_at(*old, {"metadata"});
  auto& meta = object_in(object, "metadata");
  for (auto fixed :
       {"name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp"}) {
    copy_member(old_meta, meta, fixed);
  }
  if (same_content(*old, object)) return old;
  if (!same_spec(*old, object)) {
    const auto* g = old_meta.if_contains("generation");
    meta["generation"] = (g != nullptr && g->is_int64() ? g->get_int64() : 0) + 1;
  }
  meta["resourceVersion"] = std::to_string(++version_);
  const bool finished = meta.contains("deletionTimestamp") && !has_finalizers(object);
  auto stored = std::make_shared<const json::object>(std::move(object));
  index(key, old, false);
  objects_[key.collection][{key.ns, key.name}] = stored;
  index(key, stored, true);
  emit({version_, key, old, stored});
  if (finished) take_out(key, false, now_ms);
  return stored;
}

void Store::remove(const Key& key, bool orphan, int64_t now_ms) {
  const Object old = find(key);
  if (old == nullptr) return;
  if (!has_finalizers(*old)) return take_out(key, orphan, now_ms);
  if (at(*old, {"metadata", "deletionTimestamp"}) != nullptr) return;
  json::object marked = *old;
  auto& meta = object_in(marked, "metadata");
  meta["deletionTimestamp"] = kubernetes::time_text(now_ms);
  meta["resourceVersion"] = std::to_string(++version_);
  auto stored = std::make_shared<const json::object>(std::move(marked));
  objects_[key.collection][{key.ns, key.name}] = stored;
  emit({version_, key, old, stored});
}

void Store::take_out(const Key& key, bool orphan, int64_t now_ms) {
  const Object old = find(key);
  json::object last = *old;
  object_in(last, "metadata")["resourceVersion"] = std::to_string(++version_);
  objects_[key.collection].erase({key.ns, key.name});
  index(key, old, false);
  emit({version_, key, std::make_shared<const json::object>(std::move(last)), nullptr});
  const std::string uid(string_at(*old, {"metadata", "uid"}));
  uids_.erase(uid);
  release_dependents(uid, orphan, now_ms);
  // Deleting a namespace deletes the objects in it.
  if (key.collection != Collection{"", "namespaces"}) return;
  std::vector<Key> inside;
  for (const auto& [collection, objects] : objects_) {
    for (auto it = objects.lower_bound({key.name, ""});
         it != objects.end() && it->first.first == key.name; ++it) {
      inside.push_back({collection, key.name, it->first.second});
    }
  }
  for (const auto& k : inside) remove(k, false, now_ms);
}

void Store::release_dependents(const std::string& uid, bool orphan, int64_t now_ms) {
  for (const Key& key : dependents(uid)) {
    const Object object = find(key);
    if (object == nullptr) continue;
    json::object copy = *object;
    auto& owners = object_in(copy, "metadata")["ownerReferences"].get_array();
    owners.erase(std::remove_if(owners.begin(), owners.end(),
                                [&](const json::value& o) {
                                  return o.is_object() && string_at(o.get_object(), {"uid"}) == uid;
                                }),
                 owners.end());
    if (!orphan && owners.empty()) {
      remove(key, false, now_ms);
      continue;
    }
    if (owners.empty()) object_in(copy, "metadata").erase("ownerReferences");
    replace(key, std::move(copy), now_ms);
  }
}

bool Store::since(uint64_t version, std::vector<Event>& out) const {
  if (version < forgotten_ || version > version_) return false;
  auto it = std::upper_bound(history_.begin(), history_.end(), version,
                             [](uint64_t v, const Event& e) { return v < e.version; });
  out.assign(it, history_.end());
  return true;
}

std::vector<Event> Store::take_events() {
  return std::exchange(fresh_, {});
}

}  // namespace davit::cluster_memory
