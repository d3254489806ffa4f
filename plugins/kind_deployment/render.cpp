#include "render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/plan.hpp"
#include "labels.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// The autoscaler's values when the message states none. They are those of the later revision of
// Krane.
constexpr int64_t default_cpu_threshold = 80;
constexpr int64_t scale_down_window_seconds = 60;

json::object id_labels(const Workload& w, const Site& site) {
  return {{site.labels.id("workspace.id"), w.workspace_id},
          {site.labels.id("project.id"), w.project_id},
          {site.labels.id("app.id"), w.app_id},
          {site.labels.id("environment.id"), w.environment_id},
          {site.labels.id("deployment.id"), w.deployment_id}};
}

// The pods of this controller. A ReplicaSet's selector is Krane's, and cannot change.
json::object own_pods(const Workload& w, const Site& site) {
  json::object out{{site.labels.id("deployment.id"), w.deployment_id}};
  if (w.controller != Controller::replica_set) out[labels::controller] = word_of(w.controller);
  return out;
}

// A Deployment that makes no progress for so long says so. It must be more than minReadySeconds.
constexpr int64_t progress_seconds = 600;
// Who goes back goes back with the record, so older templates are of little use.
constexpr int64_t history_kept = 2;

void add_deployment(json::object& spec, const Workload& w, const Site& site) {
  spec["progressDeadlineSeconds"] = site.min_ready_seconds + progress_seconds;
  spec["revisionHistoryLimit"] = history_kept;
  json::object rolling{{"maxUnavailable", site.max_unavailable}, {"maxSurge", w.max_surge}};
  spec["strategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}};
}

void add_stateful_set(json::object& spec, const Workload& w, const Site& site) {
  // One after the other would wait for ever for a pod of a template that does not work.
  spec["podManagementPolicy"] = "Parallel";
  spec["revisionHistoryLimit"] = history_kept;
  spec["serviceName"] = w.name;
  json::object strategy{{"type", site.replace_stale ? "RollingUpdate" : "OnDelete"}};
  if (site.replace_stale) {
    json::object& rolling = strategy["rollingUpdate"].emplace_object();
    rolling["partition"] = 0;  // ours, so that it goes when the type changes
    // Where the cluster does not know this field, it is 1.
    if (site.max_unavailable > 1) rolling["maxUnavailable"] = site.max_unavailable;
  }
  spec["updateStrategy"] = std::move(strategy);
}

json::object utilization(const char* resource, int64_t per_cent) {
  return {{"type", "Resource"},
          {"resource",
           {{"name", resource},
            {"target", {{"type", "Utilization"}, {"averageUtilization", per_cent}}}}}};
}

}  // namespace

json::object render_labels(const Workload& w, const Site& site) {
  json::object out = id_labels(w, site);
  out[site.labels.id("build.id")] = w.build_id;
  site.labels.add_managed(out, labels::component_deployment);
  return out;
}

json::object render_controller(const Workload& w, const Site& site, json::object pod_template,
                               const std::string& hash, std::optional<int64_t> replicas) {
  object_made(pod_template["metadata"].as_object(), "annotations")[labels::template_hash] = hash;
  json::object spec;
  if (replicas) spec["replicas"] = *replicas;
  if (site.min_ready_seconds != 0) spec["minReadySeconds"] = site.min_ready_seconds;
  if (w.controller == Controller::deployment) add_deployment(spec, w, site);
  if (w.controller == Controller::stateful_set) add_stateful_set(spec, w, site);
  spec["selector"] = {{"matchLabels", own_pods(w, site)}};
  spec["template"] = std::move(pod_template);
  return {{"apiVersion", "apps/v1"},
          {"kind", kind_of(w.controller)},
          {"metadata", {{"name", w.name}, {"namespace", w.ns}, {"labels", render_labels(w, site)}}},
          {"spec", std::move(spec)}};
}

// Pods that are not ready have a name, too: members of a cluster look for each other before.
json::object render_service(const Workload& w, const Site& site) {
  json::object own = id_labels(w, site);
  site.labels.add_managed(own, labels::component_deployment);
  json::object port{
      {"name", "deployment"}, {"port", w.port}, {"targetPort", w.port}, {"protocol", "TCP"}};
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", {{"name", w.name}, {"namespace", w.ns}, {"labels", std::move(own)}}},
          {"spec",
           {{"type", "ClusterIP"},
            {"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"selector", own_pods(w, site)},
            {"ports", json::array{std::move(port)}}}}};
}

json::object render_autoscaler(const Workload& w, const Site& site, Controller scales) {
  const Autoscaling& a = *w.autoscaling;
  json::object own = id_labels(w, site);
  site.labels.add_managed(own, labels::component_deployment);
  json::array metrics;
  if (a.memory_threshold) metrics.push_back(utilization("memory", *a.memory_threshold));
  metrics.push_back(utilization("cpu", a.cpu_threshold.value_or(default_cpu_threshold)));
  json::object target{{"apiVersion", "apps/v1"}, {"kind", kind_of(scales)}, {"name", w.name}};
  json::object spec{
      {"scaleTargetRef", std::move(target)},
      {"minReplicas", a.min_replicas},
      {"maxReplicas", a.max_replicas},
      {"metrics", std::move(metrics)},
      {"behavior", {{"scaleDown", {{"stabilizationWindowSeconds", scale_down_window_seconds}}}}}};
  return {{"apiVersion", "autoscaling/v2"},
          {"kind", "HorizontalPodAutoscaler"},
          {"metadata", {{"name", w.name}, {"namespace", w.ns}, {"labels", std::move(own)}}},
          {"spec", std::move(spec)}};
}

// The pods of any controller: while the workload changes to another, both count.
json::object render_budget(const Workload& w, const Site& site) {
  json::object own = id_labels(w, site);
  site.labels.add_managed(own, labels::component_deployment);
  json::object pods{{site.labels.id("deployment.id"), w.deployment_id}};
  return {{"apiVersion", "policy/v1"},
          {"kind", "PodDisruptionBudget"},
          {"metadata", {{"name", w.name}, {"namespace", w.ns}, {"labels", std::move(own)}}},
          {"spec", budget_spec(w.disruption_budget, std::move(pods))}};
}

bool has_secret(const Workload& w, const Site& site) {
  return site.decrypts_secrets && !w.secrets.empty();
}

json::array render_secret(const Workload& w, const Site& site, const std::string& owner_uid) {
  json::object own{{site.labels.id("deployment.id"), w.deployment_id}};
  site.labels.add_managed(own, labels::component_deployment);
  json::object metadata{{"name", secret_name(w.deployment_id)},
                        {"namespace", w.ns},
                        {"labels", std::move(own)},
                        {"annotations", {{labels::workload, w.name}}}};
  if (!owner_uid.empty()) {
    metadata["ownerReferences"] = json::array{{{"apiVersion", "apps/v1"},
                                               {"kind", kind_of(w.controller)},
                                               {"name", w.name},
                                               {"uid", owner_uid},
                                               {"controller", true}}};
  }
  json::array values;
  for (const auto& [name, ciphertext] : w.secrets) {
    json::object decrypt{{"keyring", w.environment_id}, {"ciphertext", ciphertext}};
    values.push_back(json::object{{"key", name}, {"decrypt", std::move(decrypt)}});
  }
  json::object secret = apply_step(
      {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", metadata}, {"type", "Opaque"}});
  secret["secrets"] = std::move(values);
  json::array out;
  out.push_back(std::move(secret));
  if (!w.pod.service_account.empty()) return out;
  json::object account = apply_step({{"apiVersion", "v1"},
                                     {"kind", "ServiceAccount"},
                                     {"metadata", std::move(metadata)},
                                     {"automountServiceAccountToken", false}});
  out.push_back(std::move(account));
  return out;
}

json::array render_pull_secrets(const Workload& w, const Site& site) {
  json::array out;
  for (const PullSecret& pull : site.pull_secrets) {
    json::object own;
    site.labels.add_managed(own, labels::component_deployment);
    json::object metadata{{"name", pull.name}, {"namespace", w.ns}, {"labels", std::move(own)}};
    json::object secret = apply_step({{"apiVersion", "v1"},
                                      {"kind", "Secret"},
                                      {"metadata", std::move(metadata)},
                                      {"type", "kubernetes.io/dockerconfigjson"}});
    secret["mode"] = "shared";
    json::object read{{"ref", pull.ref}};
    if (!pull.field.empty()) read["field"] = pull.field;
    secret["secrets"] = json::array{{{"key", ".dockerconfigjson"}, {"read", std::move(read)}}};
    out.push_back(std::move(secret));
  }
  return out;
}

}  // namespace davit::deployment
