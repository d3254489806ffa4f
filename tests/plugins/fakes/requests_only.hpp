// The parts of the role cluster that a plugin does not use which neither watches nor discovers. A
// fake of a cluster inherits them.
#pragma once

#include <functional>
#include <string>

#include <davit/cluster.hpp>

namespace davit::testing {

struct RequestsOnly {
  cluster::WatchHandle* watch(const cluster::WatchRequest&, uint32_t, const cluster::Watcher&) {
    return nullptr;
  }
  void credit(cluster::WatchHandle*, uint32_t) {}
  void cancel(cluster::WatchHandle*) {}
  void discover(const Op&, const std::string&, const std::string&, const std::string&,
                const std::function<void(cluster::Response)>&) {}
  void identity(const Op&, const std::function<void(cluster::Response)>&) {}
};

}  // namespace davit::testing
