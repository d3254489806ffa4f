// The calling half of a host: one [rpc.client] and what it stands on, used through the SDK as
// plugins use it.
#pragma once

#include <davit/rpc.hpp>

#include "rpc/rpc.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/instance_host.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "services/shutdown.hpp"

namespace davit::suite {

class Remote {
 public:
  // `settings`: the lines of the [rpc.client] table.
  static Result<std::unique_ptr<Remote>> open(const std::string& settings);
  // Calls have ended.
  ~Remote();

  Strand strand() const { return Host(&instance_.abi).strand(); }
  const rpc::Channel& channel() const { return channel_; }

 private:
  Remote();
  Result<> configure(const std::string& settings);

  host::Log log_;
  host::Runtime runtime_;
  host::Metrics metrics_;
  host::Health health_;
  host::Shutdown shutdown_;
  host::Core core_;
  host::Rpc rpc_;
  host::Services services_;
  host::InstanceHost instance_;
  rpc::Channel channel_;
};

}  // namespace davit::suite
