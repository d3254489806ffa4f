// What is a site's taste about deployments: one plain struct, read once from the instance's
// settings. The defaults are what the seed's agent does; the README has the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <davit/toleration.hpp>

namespace davit::deployment {

struct Site {
  std::string managed_by = "krane";         // value of app.kubernetes.io/managed-by
  std::string label_prefix = "unkey.com/";  // of "deployment.id" and the other id labels
  std::string env_prefix = "UNKEY_";
  std::string runtime_class = "gvisor";  // empty: the cluster's default
  std::vector<Toleration> tolerations = {
      {"karpenter.sh/nodepool", "Equal", "untrusted", "NoSchedule"}};
  std::vector<std::string> image_pull_secrets;
  std::string sentinel_namespace = "sentinel";
  std::string cluster_domain = "cluster.local";
  bool address_is_ip =
      false;  // "10.1.2.3:8080" instead of "10-1-2-3.<namespace>.pod.<domain>:8080"
  bool inject_label = true;
  bool hide_kubernetes = false;
  bool mount_service_account_token = false;
  int64_t default_port = 8080;
  int64_t request_divisor = 4;  // requests = limits / this, at least 1m and 1Mi
  int64_t min_ready_seconds = 30;
  int64_t max_unavailable = 1;
  int64_t replace_after_seconds = 5;  // a younger pod of an older template is left alone
  bool replace_stale = true;
  bool autoscaling = true;  // false: no HorizontalPodAutoscalers, not even watched
  bool zero_is_delete = false;
  bool absent_replicas_is_zero = false;
};

// Only in the constructor of the plugin: faults are noted with the host, which then refuses the
// instance.
Site read_site(const Host& host);

}  // namespace davit::deployment
