// Latest: the newest watch of each kind and region on each connection. Krane's agent begins a new
// stream when it has had enough of one, and forgets to close the old: nobody reads it, and nobody
// would find out while the connection lives. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "feed.hpp"

namespace davit::streamer {

class Latest {
 public:
  static std::string key(const std::string& peer, const Topic& topic) {
    return peer + '\n' + topic.kind + '\n' + topic.region;
  }
  // From now on it is this one; the one before, if there was one.
  std::shared_ptr<Port> replace(const std::string& key, const std::shared_ptr<Port>& port) {
    const std::lock_guard lock(mutex_);
    return std::exchange(ports_[key], port);
  }
  // It has ended; another may have taken its place.
  void leave(const std::string& key, const std::shared_ptr<Port>& port) {
    const std::lock_guard lock(mutex_);
    const auto found = ports_.find(key);
    if (found != ports_.end() && found->second == port) ports_.erase(found);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return ports_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Port>> ports_;
};

}  // namespace davit::streamer
