// Requests on their way into one storage: what waits goes together, one call at a time, on the
// storage's pool.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "batch.hpp"
#include "runtime/pool.hpp"

namespace davit::host {

struct LaneLimits {
  BatchLimits batch;
  size_t waiting = 65'536;  // requests
  size_t waiting_bytes =
      64UL << 20;  // beyond either, a new request is refused: the caller backs off
};

template <class Request>
class Lane {
 public:
  using Call = std::function<void(std::vector<Request>)>;
  // `name` is what the pool knows its calls by.
  Lane(std::string name, Pool& pool, Call call, LaneLimits limits = {})
      : name_(std::move(name)), pool_(pool), call_(std::move(call)), limits_(limits) {}

  // False: full, and the request is still the caller's. [any]
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
  // One call, then the next gets in line: other work of the pool is not starved.
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
  const LaneLimits limits_;
  std::mutex mutex_;
  std::deque<Request> requests_;
  std::deque<Footprint> footprints_;  // one per request
  size_t bytes_ = 0;
  bool running_ = false;
};

}  // namespace davit::host
