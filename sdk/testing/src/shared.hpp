// The state behind TestHost: Shared is common to the instances of one test, Own belongs to one of
// them. The services use both.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "config_tree.hpp"
#include "davit/testing/host.hpp"
#include "kind_guard.hpp"
#include "runtime.hpp"

namespace davit::testing {

struct TestHost::Abi {
  davit_host host{};  // first: the ABI sees a pointer to it
  TestHost* owner = nullptr;
  static TestHost& of(const davit_host* h) { return *reinterpret_cast<const Abi*>(h)->owner; }
};

// The state that the instances of one test share.
struct TestHost::Shared {
  struct Neighbour {
    davit_instance* self = nullptr;
    const davit_plugin* plugin = nullptr;
    std::map<std::string, davit_ref, std::less<>> roles;
  };
  struct Value {
    int32_t type;
    double value = 0;
    uint64_t count = 0;
  };

  explicit Shared(bool manual) : runtime(manual) {}

  const Neighbour* neighbour(std::string_view name) const {
    for (const auto& n : neighbours) {
      if (n.first == name) return &n.second;
    }
    return nullptr;
  }
  Neighbour& neighbour_or_new(const std::string& name) {
    for (auto& n : neighbours) {
      if (n.first == name) return n.second;
    }
    return neighbours.emplace_back(name, Neighbour{}).second;
  }

  TemporaryDirectory directory;
  mutable std::mutex mutex;                                  // guards all below except runtime
  std::deque<std::pair<std::string, Neighbour>> neighbours;  // in the order of creation
  std::deque<KindGuard> kinds;                               // made when they are looked up
  std::map<std::string, const void*, std::less<>> services;
  std::map<std::string, std::string, std::less<>> credentials;
  std::map<std::string, Value> metrics;
  Runtime runtime;
};

struct TestHost::Own {
  Own(std::string name, const Config& config) : instance(std::move(name)), tree(instance, config) {}
  std::string instance;
  ConfigTree tree;
  Abi abi;
  std::vector<Line> log;
  int32_t health = DAVIT_HEALTH_STARTING;
  std::string health_reason;
  std::string shutdown_reason;
  std::chrono::nanoseconds shutdown_deadline{0};
};

std::string metric_key(std::string_view name, const Pairs& labels);

// The query slot of a TestHost.
const void* query_service(const davit_host* host, davit_str id);

}  // namespace davit::testing
