// The rules of health, one for each kind that has one. `judge` has looked at deletion and at the
// generation already. Pure.
#pragma once

#include "health.hpp"

namespace davit::manifest::health {

using Object = boost::json::value;

// workloads.cpp
Health of_deployment(const Object&, const Site&);
Health of_stateful_set(const Object&, const Site&);
Health of_daemon_set(const Object&, const Site&);
Health of_replica_set(const Object&, const Site&);
Health of_pod(const Object&, const Site&);
Health of_job(const Object&, const Site&);
Health of_cron_job(const Object&, const Site&);
// companions.cpp
Health of_claim(const Object&, const Site&);
Health of_service(const Object&, const Site&);
Health of_ingress(const Object&, const Site&);
Health of_autoscaler(const Object&, const Site&);
Health of_budget(const Object&, const Site&);
Health of_cilium_policy(const Object&, const Site&);
// By the conditions Stalled, Reconciling, Ready and Available, in this order. An object without
// any is healthy as soon as it is there.
Health of_conditions(const Object&, const Site&);

inline Health progressing(std::string why) {
  return {State::progressing, std::move(why)};
}
inline Health failed(std::string why) {
  return {State::failed, std::move(why)};
}

}  // namespace davit::manifest::health
