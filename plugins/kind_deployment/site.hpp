// A site's choices about deployments: one plain struct, read once from the instance's settings.
// Every part of the kind gets it. The defaults are those of Krane's agent. The README explains each
// setting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <davit/host.hpp>

#include "controllers.hpp"
#include "kubernetes/disruption_budget.hpp"
#include "kubernetes/labels.hpp"
#include "kubernetes/pod_template.hpp"
#include "pod_settings.hpp"

namespace davit::deployment {

// A Secret with the credential of a registry, in each namespace that has workloads.
struct PullSecret {
  std::string name, ref, field;  // ref and field are those of the secrets instance
};

struct Site {
  kubernetes::Labels labels;
  kubernetes::Placement placement = {
      "gvisor", {{"karpenter.sh/nodepool", "Equal", "untrusted", "NoSchedule"}}};
  std::vector<Controller> controllers = {Controller::replica_set};  // the first is the default
  std::string env_prefix = "UNKEY_";
  std::string sentinel_namespace = "sentinel";
  std::string cluster_domain = "cluster.local";
  // True: "10.1.2.3:8080". False: "10-1-2-3.<namespace>.pod.<domain>:8080".
  bool address_is_ip = false;
  bool inject_label = true;
  bool hide_kubernetes = false;
  int64_t default_port = 8080;
  int64_t request_divisor = 4;  // requests = limits / this, at least 1m and 1Mi
  int64_t min_ready_seconds = 30;
  int64_t max_unavailable = 1;        // 0 only with a surge
  int64_t max_surge = 0;              // of records that say nothing else
  int64_t replace_after_seconds = 5;  // a stale pod that is younger is left alone
  bool replace_stale = true;
  bool autoscaling = true;          // false: HorizontalPodAutoscalers are not even watched
  bool disruption_budgets = false;  // false: they are not even watched
  kubernetes::DisruptionBudget disruption_budget;  // of records that say nothing else
  bool zero_is_delete = false;
  bool absent_replicas_is_zero = false;
  // True: a workload's secrets are in a Secret, decrypted. False: its pods get them encrypted.
  bool decrypts_secrets = false;
  std::vector<PullSecret> pull_secrets;
  PodSettings pod;  // of records that say nothing else
  bool allows(Controller) const;
  bool has_secrets() const { return decrypts_secrets || !pull_secrets.empty(); }
};

// Only for the plugin's constructor. The host notes the faults and then refuses the instance.
Site read_site(const Host& host);

}  // namespace davit::deployment
