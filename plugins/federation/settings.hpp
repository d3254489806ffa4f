// The plugin's settings. README.md explains them. They are read once, in the plugin's constructor.
#pragma once

#include <davit/settings.hpp>

#include "controller/keyed_queue.hpp"
#include "definition.hpp"
#include "guard.hpp"

namespace davit::federation {

struct Limits {
  controller::KeyedQueue::Limits queue;  // of each resource
  std::chrono::milliseconds request_timeout{30'000};
  uint32_t watch_credit = 256;
  GuardLimits guard;
};

struct Configuration {
  std::string upstream, downstream;  // instances
  Site site;
  std::string definitions = "downstream";   // whose definitions say what takes part
  std::vector<std::string> namespaces;      // empty: all
  std::string claim_namespace = "default";  // where the robot's name is claimed; empty: nowhere
  std::vector<Rules> resources;             // those that the configuration names
  Limits limits;
};

Configuration read_configuration(const Settings& settings);

}  // namespace davit::federation
