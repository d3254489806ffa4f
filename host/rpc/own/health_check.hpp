// grpc.health.v1.Health: what /readyz says, for those who speak gRPC. Anybody may ask, without a
// token; a service is as ready as the process. Check is answered even while the host goes down.
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

  // Serves its methods as `host`. During wire, once.
  Result<> serve(const Host& host);
  static std::vector<std::string> paths();

 private:
  struct Watches;
  class Watch;
  Health& health_;
  const MethodRegistry& methods_;
  std::shared_ptr<Watches> watches_;  // nothing: not served
};

}  // namespace davit::host
