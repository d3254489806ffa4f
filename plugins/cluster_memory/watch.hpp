// One watch of the simulated cluster: the events to deliver, and the credit for them.
//
// Pure. Its queue is bounded. A watch that falls too far behind drops its events and begins again
// (RESTART and initial events), as a client of the real API does after 410.
#pragma once

#include <davit/cluster.hpp>
#include <deque>

#include "selector.hpp"
#include "store.hpp"

namespace davit::cluster_memory {

class Watch {
 public:
  struct Item {
    int32_t type;        // DAVIT_WATCH_...
    std::string object;  // JSON
  };

  // INVALID_ARGUMENT: a selector cannot be read.
  static Result<Watch> make(const cluster::WatchRequest& request, uint32_t credit,
                            size_t queue_max);

  // Begins at the request's resource version if possible, otherwise with the initial events.
  void begin(const Store& store);
  void offer(const Event& event);
  void grant(uint32_t more) { credit_ = credit_ > UINT32_MAX - more ? UINT32_MAX : credit_ + more; }
  // The next event, if there is one and credit for it.
  std::optional<Item> next(const Store& store);

 private:
  struct Waiting {
    int32_t type;
    Object object;  // NULL for RESTART and SYNCED
    uint64_t version;
  };
  void restart(const Store& store);
  bool selects(const Object& object) const;
  std::string render(const Waiting& w) const;

  cluster::WatchRequest request_;
  LabelSelector labels_;
  FieldSelector fields_;
  uint32_t credit_ = 0;
  size_t queue_max_ = 0;
  size_t room_ = 0;  // how many events may wait: queue_max and the initial ones
  bool behind_ = false;
  std::deque<Waiting> waiting_;
};

}  // namespace davit::cluster_memory
