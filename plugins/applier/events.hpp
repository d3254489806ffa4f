// Events: writes events of Kubernetes, which `kubectl describe` shows at an object: that its record
// is parked, that the object was replaced, repaired or pruned. They are for people. Nothing depends
// on them, so one that cannot be written is dropped and counted. Used on the applier's strand.
//
// The same event is written once more after `repeat_after`, with the number of times that it has
// occurred. All events together are limited to `events_per_minute`, because the API server keeps
// them in the same store as everything else.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include <davit/pace.hpp>

#include "event.hpp"
#include "reconcile_context.hpp"

namespace davit::applier {

class Events {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::chrono::minutes repeat_after{10};

  // `context` outlives this. `refused`: the account may not write events. `ended` is called when a
  // request ends after stop.
  Events(Host host, ReconcileContext& context, Strand strand, std::function<void()> refused,
         std::function<void()> ended);

  void say(Event event);
  // Writes nothing any more.
  void stop();
  bool under_way() const { return under_way_; }

 private:
  // An event that was said before, by a hash of what it says.
  struct Said {
    Time written_at{0};  // 0: not yet
    int64_t first_unix_ms = 0;
    uint64_t times = 0;
  };
  struct Waiting {
    Event event;
    uint64_t hash;
  };

  Said& said(uint64_t hash);
  bool has_room(Time now);
  void next();
  cluster::Request request_for(const Waiting& waiting);
  void answered(const cluster::Response& r);

  const Host host_;
  ReconcileContext& context_;
  const Strand strand_;
  const std::function<void()> refused_, ended_;
  Pace pace_;
  std::deque<Waiting> waiting_;
  std::unordered_map<uint64_t, Said> said_;
  std::deque<uint64_t> order_;  // of said_, the oldest first
  bool under_way_ = false;      // one request at a time
  bool stopped_ = false;
  Metric written_, dropped_;
};

}  // namespace davit::applier
