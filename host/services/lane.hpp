// The requests of one type on their way into one storage. Waiting requests go together into one
// call. One call runs at a time, on the storage's pool.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "batch.hpp"
#include "runtime/pool.hpp"

namespace davit::host {

struct LaneLimits {
  BatchLimits batch;
  // Above either limit new requests are refused, and their callers back off.
  size_t waiting = 65'536;  // requests
  size_t waiting_bytes = 64UL << 20;
};

template <class Request>
class Lane {
 public:
  using Call = std::function<void(std::vector<Request>)>;
  // `name` identifies the lane's calls in the pool.
  Lane(std::string name, Pool& pool, Call call, LaneLimits limits = {})
      : name_(std::move(name)), pool_(pool), call_(std::move(call)), limits_(limits) {}

  // No call holds more than this, from now on. [any]
  void restrict_to(const BatchLimits& batch) {
    std::lock_guard lock(mutex_);
    limits_.batch.bytes = std::min(limits_.batch.bytes, batch.bytes);
    limits_.batch.records = std::min(limits_.batch.records, batch.records);
  }

  // False: the lane is full, and the caller keeps the request. An empty lane takes a request of any
  // size. [any]
  bool offer(Request& request, Footprint footprint) {
    std::lock_guard lock(mutex_);
    const bool full =
        requests_.size() >= limits_.waiting || bytes_ + footprint.bytes > limits_.waiting_bytes;
    if (full && !requests_.empty()) return false;
    bytes_ += footprint.bytes;
    requests_.push_back(std::move(request));
    footprints_.push_back(std::move(footprint));
    if (!std::exchange(running_, true)) pool_.post(&Lane::step, this, name_);
    return true;
  }

 private:
  // Makes one call, then queues the next one, so that other tasks of the pool get their turn.
  static void step(void* self) {
    auto& lane = *static_cast<Lane*>(self);
    lane.call_(lane.take());
    std::unique_lock lock(lane.mutex_);
    lane.running_ = !lane.requests_.empty();
    if (!lane.running_) return;
    lock.unlock();
    lane.pool_.post(&Lane::step, self, lane.name_);
  }

  std::vector<Request> take() {
    std::vector<Request> out;
    std::lock_guard lock(mutex_);
    const std::vector<size_t> picked = pick_batch(footprints_, limits_.batch);
    std::deque<Request> requests;
    std::deque<Footprint> footprints;
    size_t next = 0;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (next < picked.size() && picked[next] == i) {
        out.push_back(std::move(requests_[i]));
        bytes_ -= footprints_[i].bytes;
        ++next;
      } else {
        requests.push_back(std::move(requests_[i]));
        footprints.push_back(std::move(footprints_[i]));
      }
    }
    requests_ = std::move(requests);
    footprints_ = std::move(footprints);
    return out;
  }

  const std::string name_;
  Pool& pool_;
  const Call call_;
  std::mutex mutex_;
  LaneLimits limits_;
  std::deque<Request> requests_;
  std::deque<Footprint> footprints_;  // one per request
  size_t bytes_ = 0;
  bool running_ = false;
};

}  // namespace davit::host
