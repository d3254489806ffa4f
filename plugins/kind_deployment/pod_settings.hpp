// What a site, and one record otherwise than its site, decides about the pods of a workload: their
// account, where they may run, their labels, what they may do. The table `pod` of the settings and
// `pod` of a record have the same keys. Nothing here is rendered unless somebody has set it, so the
// template of a record that sets nothing keeps its hash.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <boost/json/object.hpp>
#include <davit/settings.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/labels.hpp"

namespace davit::deployment {

// The four rules of Kubernetes' Pod Security Standard "restricted" for a pod without volumes.
struct PodSecurity {
  bool run_as_non_root = false;
  bool no_new_privileges = false;
  bool drop_capabilities = false;
  bool seccomp_runtime_default = false;
};

struct PodSettings {
  std::string service_account;  // empty: the one of the workload's Secret, or the default
  bool mount_service_account_token = false;
  std::string priority_class;  // empty: the cluster's default
  std::map<std::string, std::string> node_selector, labels, annotations;
  int64_t ephemeral_storage_mib = 0;  // 0: no limit
  boost::json::object affinity;       // empty: near the sentinels, if possible
  PodSecurity security;
};

// Of the settings' table `pod`. Only for the plugin's constructor. The host notes the faults.
// `labels`: the kind's own.
PodSettings read_pod_settings(const Settings&, const kubernetes::Labels& labels);

// What the record says in `pod` and `ephemeral_storage`; the rest is the site's.
PodSettings read_pod_settings(const kubernetes::Fields& message, const PodSettings& site,
                              const kubernetes::Labels& labels);

// Writes into a rendered pod template what is set.
void add_pod_settings(boost::json::object& pod_template, const PodSettings&);

}  // namespace davit::deployment
