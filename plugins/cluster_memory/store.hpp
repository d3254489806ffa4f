// The objects of the simulated cluster, with everything that follows from a write: resource
// versions, uids, generations, events, owner references and finalizers. The verbs of the API are in
// api.hpp above it.
//
// Pure: no clock, thread or lock. Objects are immutable once stored, so a list or an event shares
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

// A resource of the API without its version: all versions are the same object.
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
  Object before;  // NULL: it is new
  Object after;   // NULL: it is gone; `before` then carries the version of the deletion
};

class Store {
 public:
  static constexpr size_t history_limit = 8192;  // what a watch may have missed and still resume

  explicit Store(Random random) : random_(std::move(random)) {}

  uint64_t version() const { return version_; }
  Object find(const Key& key) const;
  // Of one namespace, or of all (ns empty), ordered by namespace and name.
  std::vector<Object> list(const Collection& collection, std::string_view ns) const;
  // The objects that name `uid` as an owner.
  std::vector<Key> dependents(const std::string& uid) const;

  // Stores a new object: fills in uid, creation time, generation and version. The key must be free.
  Object add(const Key& key, boost::json::object object, int64_t now_ms);
  // Replaces a stored one. Returns what was there when nothing but bookkeeping differs. Removes the
  // object when it was being deleted and its last finalizer is gone.
  Object replace(const Key& key, boost::json::object object, int64_t now_ms);
  // Deletes, with everything that only this object owned ("orphan": those lose the reference
  // instead). An object with finalizers is marked and stays until they are gone.
  void remove(const Key& key, bool orphan, int64_t now_ms);
  // Deletes what was written since the last call and names none but absent owners.
  void collect_garbage(int64_t now_ms);

  // Events after a version, oldest first; false: they are no longer known.
  bool since(uint64_t version, std::vector<Event>& out) const;
  // Events since the last call.
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
  std::unordered_map<std::string, std::set<Key>> owned_by_;  // uid -> who names it as an owner
  std::unordered_set<std::string> uids_;                     // of all objects
  std::set<Key> ownerless_;  // perhaps: they were when they were written
  std::deque<Event> history_;
  uint64_t forgotten_ = 0;  // the youngest version the history no longer has
  std::vector<Event> fresh_;
};

// --- reading objects
// ---------------------------------------------------------------------------------

// A nested value, or NULL: at(object, {"spec", "replicas"}).
const boost::json::value* at(const boost::json::object& object,
                             std::initializer_list<std::string_view> path);
const boost::json::object* object_at(const boost::json::object& object,
                                     std::initializer_list<std::string_view> path);
// A nested string, or "".
std::string_view string_at(const boost::json::object& object,
                           std::initializer_list<std::string_view> path);
// The member as an object; made, or made empty, when it is not one.
boost::json::object& object_in(boost::json::object& object, std::string_view key);

}  // namespace davit::cluster_memory
