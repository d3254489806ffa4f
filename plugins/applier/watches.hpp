// Watches: the cluster watches of one kind, one for each resource that the kind watches. They stand
// between the cluster and the hub. An event is parsed and reduced on the thread that brings it,
// then handed over on the applier's strand. Credit is given back when the event has been processed,
// so credit bounds what waits here.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/kind.hpp>

#include "observed.hpp"
#include "settings.hpp"

namespace davit::applier {

// One parsed event.
struct Arrival {
  uint32_t watch = 0;  // index of the kind's resource
  int32_t type = 0;    // DAVIT_WATCH_...
  std::string path, resource_version;
  Text text;
  bool attributed = false;  // the kind attributes it to the record `ns`/`name`
  std::string ns, name;
  bool foreign = false;
  std::string trouble;
};

// Parses one event's object. When the object cannot be read, path and text stay empty. Any thread.
Arrival read_arrival(const kind::Client& kind, uint32_t watch, int32_t type,
                     std::string_view object, const std::string& region_label,
                     const std::string& field_manager);

class Watches {
 public:
  using Sink = std::function<void(const Arrival&)>;

  Watches(kind::Client kind, Strand strand) : kind_(std::move(kind)), strand_(std::move(strand)) {}
  // On the strand; once. `sink` is called on the strand, too.
  void start(const cluster::Client& cluster, const Rules& rules, const std::string& region_label,
             Sink sink);
  // On the strand. `ended` is called on the strand when no more events can come.
  void stop(std::function<void()> ended);

 private:
  void arrived(Arrival arrival);
  void drain();
  void ended();

  const kind::Client kind_;
  const Strand strand_;
  Sink sink_;
  std::vector<cluster::Watch> watches_;  // by index of the kind's resources; empty: not watched
  std::vector<bool> open_;
  size_t living_ = 0;
  bool stopping_ = false;
  std::function<void()> ended_;

  std::mutex mutex_;
  std::vector<Arrival> arrivals_;
};

// Whether a kind's resource is watched.
inline bool watched(const kind::Resource& r) {
  return !r.selector.empty();
}

}  // namespace davit::applier
