// Truth: all that has ever been in one cluster, as its own watches show it at once and in order.
// Rules and the end state are judged by it.
#pragma once

#include <functional>

#include "kinds.hpp"

namespace davit::simulation::federation {

class Truth {
 public:
  struct Version {
    uint64_t version;
    json::value object;  // as it was last, when it is not there
    bool there;
    Time at;
  };
  using Changed = std::function<void(const Kind& kind, const std::string& name, uint64_t version)>;

  void watch(const cluster::Client& cluster, std::function<Time()> now, const Changed& changed) {
    for (const Kind& kind : kinds()) {
      cluster::WatchRequest request;
      request.resource = kind.resource;
      cluster::Watcher watcher;
      watcher.event = [this, &kind, now, changed](int32_t type, std::string_view text) {
        if (type > DAVIT_WATCH_DELETED) return;
        json::value object = json::parse(text);
        const std::string name = text_at(object, "/metadata/name");
        const uint64_t version = version_of(object);
        objects_[{&kind, name}].push_back(
            {version, std::move(object), type != DAVIT_WATCH_DELETED, now()});
        changed(kind, name, version);
      };
      watches_.push_back(*cluster.watch(request, UINT32_MAX, std::move(watcher)));
    }
  }
  void close() {
    for (const auto& watch : watches_) watch.cancel();
    watches_.clear();
  }

  // Oldest first.
  const std::vector<Version>& all(const Kind& kind, const std::string& name) const {
    static const std::vector<Version> none;
    const auto found = objects_.find({&kind, name});
    return found == objects_.end() ? none : found->second;
  }
  // Null: it is not there.
  json::value now(const Kind& kind, const std::string& name) const {
    const auto& versions = all(kind, name);
    return versions.empty() || !versions.back().there ? json::value() : versions.back().object;
  }
  std::vector<std::string> names(const Kind& kind) const {
    std::vector<std::string> out;
    for (const auto& [key, versions] : objects_) {
      if (key.first == &kind && versions.back().there) out.push_back(key.second);
    }
    return out;
  }

 private:
  std::map<std::pair<const Kind*, std::string>, std::vector<Version>> objects_;
  std::vector<cluster::Watch> watches_;
};

}  // namespace davit::simulation::federation
