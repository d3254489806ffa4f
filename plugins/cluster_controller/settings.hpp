// The settings of the cluster controller. README.md has the table of them.
#pragma once

#include <string>
#include <vector>

#include <davit/pace.hpp>
#include <davit/settings.hpp>

#include "controller/keyed_queue.hpp"

namespace davit::clusters {

// An actuator that builds clusters, and for which.
struct Provider {
  std::string instance;
  // API groups of spec.providerSpec.value; empty: all clusters that no other provider names.
  std::vector<std::string> groups;
};

struct Limits {
  controller::KeyedQueue::Limits queue;
  PaceLimits retries;  // of all clusters together; a "byte" is one retry
  std::chrono::milliseconds call_timeout{600'000}, request_timeout{30'000}, resync{600'000};
  uint32_t watch_credit = 256;
};

struct Configuration {
  std::string cluster, ns;  // where the Clusters are; empty ns: in all namespaces
  std::vector<Provider> providers;
  std::vector<std::string> addons;  // called in this order, removed in the other
  bool children_first = false;
  size_t conflict_retries = 0;
  Limits limits;
};

// Faults are noted at the settings.
Configuration read_configuration(const Settings&);

}  // namespace davit::clusters
