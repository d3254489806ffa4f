// Controller: calls the actuators of each Cluster when it has changed, when an actuator has asked
// for it, and from time to time. It watches the Clusters and has at most one Pass open for each.
// All members are called on the strand, start() and stop() apart.
#pragma once

#include <map>

#include "controller/keyed_queue.hpp"
#include "controller/object_cache.hpp"
#include "controller/watched.hpp"
#include "pass.hpp"

namespace davit::clusters {

class Controller : public std::enable_shared_from_this<Controller> {
 public:
  Controller(Host host, Configuration configuration, cluster::Client cluster,
             std::vector<Actuator> providers, std::vector<Actuator> addons,
             Outstanding& outstanding);
  void start();  // [any]
  void stop();   // [any] what is open ends soon afterwards

 private:
  using Time = std::chrono::nanoseconds;
  // What is remembered of one Cluster beside the cache.
  struct Memory {
    uint64_t asked = 0;          // a fingerprint of what others ask of it: all but its status
    uint64_t status = 0;         // of its status, as it was written or seen last
    Time again{0};               // it is looked at then; 0: nothing asks for it
    std::string phase;           // for the metrics
    std::shared_ptr<Pass> pass;  // that is open, or that an actuator has not answered
    bool abandoned = false;      // the latter
  };

  void event(int32_t type, std::string_view object);
  void has_changed(const std::string& key);
  void pump();
  void look(const std::string& key);
  void ended(const std::string& key, const Pass::End& end);
  void resync();
  void show_health();
  void count(Memory& memory, const std::string& phase);
  void called(const Actuator& actuator, bool removes, Code code, Time took);
  Time now() const { return around_.host.now(); }

  Surroundings around_;
  controller::ObjectCache clusters_;
  std::shared_ptr<controller::Watched> watch_;
  controller::KeyedQueue queue_;
  Pace retries_;
  std::map<std::string, Memory> memory_;
  Timer timer_, resync_timer_;
  bool stopped_ = false, pumping_ = false;
  std::string health_ = "?";
  std::map<std::string, double> phases_;
};

}  // namespace davit::clusters
