// Watches: the cluster watches of one kind, one for each resource that the kind watches. They stand
// between the cluster and the hub. The thread that brings an event only queues it. A job on the
// pool of the kind's instance parses and reduces what has come, in order, and asks the kind to
// attribute it; then the applier's strand takes it over. So there are two changes of thread for a
// burst, and not for an event. While the kind cannot attribute, its events wait. Credit is given
// back when the event has been processed, so credit bounds what waits here.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/cluster.hpp>
#include <davit/kind.hpp>

#include "observed.hpp"
#include "settings.hpp"
#include "views.hpp"

namespace davit::applier {

// One parsed event.
struct Arrival {
  uint32_t watch = 0;  // index of the kind's resource
  int32_t type = 0;    // DAVIT_WATCH_...
  std::string path, resource_version;
  Text text;
  std::vector<Named> records;  // those that the kind attributes it to
  bool foreign = false;
  std::string trouble;
};

// Parses one event's object. When the object cannot be read, path and text stay empty. An error is
// retryable: the kind cannot attribute now. [pool]
Result<Arrival> read_arrival(const kind::Client& kind, uint32_t watch, int32_t type,
                             std::string_view object, const std::string& region_label,
                             const std::string& field_manager);

class Watches {
 public:
  using Sink = std::function<void(const Arrival&)>;

  Watches(Host host, kind::Client kind, Strand strand)
      : host_(host), kind_(std::move(kind)), strand_(std::move(strand)), retry_(strand_) {}
  // On the strand; once. `sink` is called on the strand, too.
  void start(const cluster::Client& cluster, const Rules& rules, const std::string& region_label,
             Sink sink);
  // On the strand. `ended` is called on the strand when no more events can come.
  void stop(std::function<void()> ended);

 private:
  struct Event {
    uint32_t watch;
    int32_t type;
    std::string object;
  };
  void arrived(Event event);
  void read();
  void drain(const std::vector<Arrival>& arrivals);
  void read_later(const Error& why);
  void check_ended();

  const Host host_;
  const kind::Client kind_;
  const Strand strand_;
  std::string region_label_, field_manager_;
  Sink sink_;
  std::vector<cluster::Watch> watches_;  // by index of the kind's resources; empty: not watched
  std::vector<bool> open_;
  size_t living_ = 0;
  bool stopping_ = false;
  std::function<void()> ended_;
  Timer retry_;
  Backoff backoff_;  // while the kind cannot attribute

  std::mutex mutex_;
  std::deque<Event> events_;
  bool reading_ = false;  // a job reads, or waits to read again
};

}  // namespace davit::applier
