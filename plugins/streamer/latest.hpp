// Knows the newest ctrl.v1 watch of each kind and region on each connection, so that a stream can
// end the older one. Krane's agent opens a new stream and leaves the old one open. Nobody reads the
// old one, and nothing else would end it while the connection lives. [any]
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
  // Makes `port` the newest. Returns the one before, or NULL.
  std::shared_ptr<Port> replace(const std::string& key, const std::shared_ptr<Port>& port) {
    const std::lock_guard lock(mutex_);
    return std::exchange(ports_[key], port);
  }
  // The watch has ended. Does nothing when a newer one has taken its place.
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
