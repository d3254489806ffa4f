// HealthCheck serves grpc.health.v1.Health: what /readyz says, for callers of gRPC. It needs no
// token. Each served service has the health of the process. Check is answered even while the host
// shuts down.
#pragma once

#include <memory>

#include <davit/rpc.hpp>

#include "../method_registry.hpp"

namespace davit::host {

class Health;

class HealthCheck {
 public:
  HealthCheck(Health&, const MethodRegistry&);
  ~HealthCheck();
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;

  // Registers the methods as `host`. Once, during wire.
  Result<> serve(const Host& host);
  static std::vector<std::string> paths();

 private:
  struct Watches;
  class Watch;
  Health& health_;
  const MethodRegistry& methods_;
  std::shared_ptr<Watches> watches_;  // NULL: not served
};

}  // namespace davit::host
