// ObjectCache: what one watch of a cluster has shown. It stands between the watch and a
// controller's decisions. It says of an object what is known of it, and of the whole whether a
// missing object is known to be missing: only a complete list of a watch that goes on says so. When
// the watch lists anew, the cache keeps what it had until the new list is complete. Pure; one
// thread at a time.
//
// A controller may put the answer to its own write into the cache, because the watch shows it
// later. Events of the time before do not undo it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include "picture.hpp"

namespace davit::controller {

// "namespace/name", or "/name" of an object without a namespace.
std::string key_of(std::string_view ns, std::string_view name);
std::pair<std::string, std::string> split_key(const std::string& key);  // namespace, name

class ObjectCache {
 public:
  using Text = std::shared_ptr<const std::string>;
  // What is left out of each object before it is kept.
  using Reduce = std::function<void(boost::json::object&)>;
  enum class State {
    unlisted,  // nothing is known
    listing,   // known once, and being listed anew
    complete,
    troubled,  // the watch is cut; what is kept may be old
    refused,   // by the API server
    absent,    // the resource is not installed
  };

  explicit ObjectCache(Reduce reduce = {}) : reduce_(std::move(reduce)) { picture_.restart(); }

  // Takes an event of the watch (DAVIT_WATCH_...). Returns the keys whose objects have changed.
  std::vector<std::string> event(int32_t type, std::string_view object);
  // The answer to a write of an object, or to a read. It counts only while the cache has an object
  // of this key and uid: one that has gone meanwhile does not come back.
  void put(std::string_view object);

  State state() const { return state_; }
  // What is not here does not exist.
  bool complete() const { return state_ == State::complete && unreadable_ == 0; }
  // It is not there, or not to be seen: waiting alone does not help.
  bool refused() const { return state_ == State::refused || state_ == State::absent; }
  // Why it is not complete; empty: it is.
  std::string reason() const;
  Text find(const std::string& key) const;  // NULL: not here
  size_t size() const { return objects_.size(); }
  std::vector<std::string> keys() const;

 private:
  struct Held {
    Text text;
    std::string uid, resource_version;
    Picture::Mark mark;
  };
  struct Read {
    std::string key;
    Held held;
  };
  bool read(std::string_view object, Read& out) const;
  bool take(int32_t type, Read& shown);
  void synced(std::string_view object, std::vector<std::string>& changed);

  Reduce reduce_;
  State state_ = State::unlisted;
  Picture picture_;
  std::string why_;
  size_t unreadable_ = 0;  // events since the list began
  std::map<std::string, Held> objects_;
};

}  // namespace davit::controller
