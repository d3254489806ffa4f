// A site's choices about sentinels: one plain struct, read once from the instance's settings. Every
// part of the kind gets it. The defaults are those of Krane's agent. The README explains each
// setting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <davit/host.hpp>

#include "kubernetes/labels.hpp"
#include "kubernetes/pod_template.hpp"

namespace davit::sentinel {

inline constexpr int64_t default_metrics_port = 9090;

// The configuration that the sentinel of Krane expects.
inline std::string default_config(int64_t metrics_port) {
  return "request_timeout = '15m'\n"
         "[database]\n"
         "primary = '${UNKEY_DATABASE_PRIMARY}'\n"
         "readonly_replica = '${UNKEY_DATABASE_REPLICA}'\n"
         "[clickhouse]\n"
         "url = '${UNKEY_CLICKHOUSE_URL}'\n"
         "[redis]\n"
         "url = '${UNKEY_REDIS_URL}'\n"
         "[observability.tracing]\n"
         "sample_rate = 0.25\n"
         "[observability.logging]\n"
         "sample_rate = 1.0\n"
         "slow_threshold = '1s'\n"
         "[observability.metrics]\n"
         "prometheus_port = " +
         std::to_string(metrics_port) +
         "\n"
         "[pprof]\n"
         "username = '${UNKEY_PPROF_USERNAME}'\n"
         "password = '${UNKEY_PPROF_PASSWORD}'\n";
}

struct Site {
  kubernetes::Labels labels;
  kubernetes::Placement placement = {"", {{"node-class", "Equal", "sentinel", "NoSchedule"}}};
  std::string env_prefix = "UNKEY_";
  std::string ns = "sentinel";  // namespace of a record whose message cannot name one
  Pairs pod_annotations = {{"reloader.stakater.com/auto", "true"}};
  std::vector<std::string> args = {"run", "sentinel"};
  // Secrets whose entries become environment variables.
  std::vector<std::string> secrets = {"database"};
  std::vector<std::string> optional_secrets = {"otel", "redis", "pprof"};
  // Who runs the region's machines; empty: it is left out. Krane's sentinels need it.
  std::string platform;
  // Follows the ids in the TOML text of <env_prefix>CONFIG_DATA.
  std::string config = default_config(default_metrics_port);
  std::string liveness_path = "/_unkey/internal/health/live";
  std::string readiness_path = "/_unkey/internal/health/ready";
  int64_t port = 8040;
  int64_t gossip_port = 7946;
  int64_t metrics_port = default_metrics_port;
  int64_t cpu_request_divisor = 2;  // CPU request = limit / this; the memory request is the limit
  int64_t min_ready_seconds = 30;
  bool gossip_policy = true;      // false: a cluster without Cilium, or no right to its policies
  bool disruption_budget = true;  // false: no right to PodDisruptionBudgets
  bool zero_is_delete = false;
};

// Only for the plugin's constructor. The host notes the faults and then refuses the instance.
Site read_site(const Host& host);

}  // namespace davit::sentinel
