// The objects of the simulated cluster, and everything that follows from a write: resource
// versions, uids, generations, events, owner references and finalizers. The verbs of the API
// (api.hpp) use it.
//
// Pure: it has no clock, thread or lock. Stored objects are immutable, so lists and events share
// them.
#pragma once

#include <boost/json/object.hpp>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "names.hpp"

namespace davit::cluster_memory {

using Object = std::shared_ptr<const boost::json::object>;

// A resource of the API without its version, because all versions show the same objects.
struct Collection {
  std::string group, resource;
  auto operator<=>(const Collection&) const = default;
  bool operator==(const Collection&) const = default;
};
struct Key {
  Collection collection;
  std::string ns, name;
  auto operator<=>(const Key&) const = default;
  bool operator==(const Key&) const = default;
};

struct Event {
  uint64_t version;
  Key key;
  Object before;  // NULL: the object is new
  Object after;   // NULL: it was deleted; `before` then has the version of the deletion
};

class Store {
 public:
  static constexpr size_t history_limit = 8192;  // more missed events, and a watch cannot resume

  explicit Store(Random random) : random_(std::move(random)) {}

  uint64_t version() const { return version_; }
  Object find(const Key& key) const;
  // The objects of one namespace, or of all (ns empty), ordered by namespace and name.
  std::vector<Object> list(const Collection& collection, std::string_view ns) const;
  // The objects whose owner references name `uid`.
  std::vector<Key> dependents(const std::string& uid) const;

  // Stores a new object and sets its uid, creation time, generation and version. The key must be
  // free.
  Object add(const Key& key, boost::json::object object, int64_t now_ms);
  // Replaces a stored object. Returns the stored one if only bookkeeping differs. Deletes the
  // object if it was marked as deleted and its last finalizer is gone.
  Object replace(const Key& key, boost::json::object object, int64_t now_ms);
  // Deletes an object, and the objects that only it owned (with `orphan` they lose the reference
  // instead). An object with finalizers is marked and stays until they are gone.
  void remove(const Key& key, bool orphan, int64_t now_ms);
  // Deletes objects that were written since the last call and whose owners are all absent.
  void collect_garbage(int64_t now_ms);

  // The events after a version, oldest first. False: they are no longer known.
  bool since(uint64_t version, std::vector<Event>& out) const;
  // The events since the last call.
  std::vector<Event> take_events();

  Random& random() { return random_; }

 private:
  using Objects = std::map<std::pair<std::string, std::string>, Object>;
  void index(const Key& key, const Object& object, bool add);
  bool is_ownerless(const boost::json::object& object) const;
  void emit(Event event);
  void take_out(const Key& key, bool orphan, int64_t now_ms);
  void release_dependents(const std::string& uid, bool orphan, int64_t now_ms);

  Random random_;
  uint64_t version_ = 0;
  std::map<Collection, Objects> objects_;
  std::unordered_map<std::string, std::set<Key>> owned_by_;  // uid -> the objects that it owns
  std::unordered_set<std::string> uids_;                     // of all objects
  std::set<Key> ownerless_;  // objects that had no owner when they were written
  std::deque<Event> history_;
  uint64_t forgotten_ = 0;  // the newest version that the history no longer has
  std::vector<Event> fresh_;
};

// --- reading objects

// Returns a nested value, or NULL: at(object, {"spec", "replicas"}).
const boost::json::value* at(const boost::json::object& object,
                             std::initializer_list<std::string_view> path);
const boost::json::object* object_at(const boost::json::object& object,
                                     std::initializer_list<std::string_view> path);
// Returns a nested string, or "".
std::string_view string_at(const boost::json::object& object,
                           std::initializer_list<std::string_view> path);
// Returns the member as an object. A missing member, or one of another type, becomes an empty
// object.
boost::json::object& object_in(boost::json::object& object, std::string_view key);

}  // namespace davit::cluster_memory
