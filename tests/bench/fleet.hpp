// Many watchers in one process: streams spread over regions and connections, each counting what it
// receives. They come back after a loss as an agent does: after 1 to 5 s, at random, from where
// they were.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <vector>

#include "watch_wire.hpp"

namespace davit::bench {

struct FleetSettings {
  std::string server, token;
  size_t streams = 1, connections = 1, regions = 1;
  bool comes_back = false;  // after a loss; otherwise a stream that ends stays away
  size_t stopped = 0;       // this many, the first ones, stop reading when `stop_reading` says so
};

class Fleet {
 public:
  // `arrived` is told of each change that a stream receives. [gRPC's threads]
  using Arrived = std::function<void(size_t stream, uint64_t number)>;

  Fleet(const WatchWire& wire, FleetSettings settings, Arrived arrived);
  ~Fleet();  // ends every stream
  void start(Place from = {});

  // Streams that have received anything since they were opened last.
  size_t live() const { return live_; }
  size_t lost() const { return lost_; }  // ends of streams so far
  uint64_t messages() const { return messages_; }
  Place place(size_t stream) const;
  std::string last_end() const;
  void stop_reading() { reading_stops_ = true; }
  // False: not all were live within the limit.
  bool wait_all_live(std::chrono::seconds limit);
  const FleetSettings& settings() const { return settings_; }

 private:
  class Watcher;
  void became_live();

  const WatchWire& wire_;
  const FleetSettings settings_;
  const Arrived arrived_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::atomic<size_t> live_{0}, lost_{0};
  std::atomic<uint64_t> messages_{0};
  std::atomic<bool> reading_stops_{false}, ending_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937 random_{20261121};
  size_t open_ = 0;
  std::string last_end_;
};

}  // namespace davit::bench
