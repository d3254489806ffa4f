// Renders the pod template of render.hpp: container, environment, probes, placement.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "labels.hpp"
#include "render.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// Kubernetes sets these variables in every pod. Empty values hide the Kubernetes API.
constexpr const char* kubernetes_variables[] = {
    "KUBERNETES_SERVICE_HOST",       "KUBERNETES_SERVICE_PORT",
    "KUBERNETES_SERVICE_PORT_HTTPS", "KUBERNETES_PORT",
    "KUBERNETES_PORT_443_TCP",       "KUBERNETES_PORT_443_TCP_PROTO",
    "KUBERNETES_PORT_443_TCP_PORT",  "KUBERNETES_PORT_443_TCP_ADDR",
};

json::array environment(const Workload& w, const Site& site) {
  json::array env;
  // An empty value is left out: the API server does not keep it, so it would look like drift.
  auto add = [&](std::string_view name, std::string_view value) {
    json::object& one = env.emplace_back(json::object{{"name", name}}).get_object();
    if (!value.empty()) one["value"] = value;
  };
  auto own = [&](std::string_view name, std::string_view value) {
    add(site.env_prefix + std::string(name), value);
  };
  add("PORT", std::to_string(w.port));
  own("WORKSPACE_ID", w.workspace_id);
  own("PROJECT_ID", w.project_id);
  own("ENVIRONMENT_ID", w.environment_id);
  own("DEPLOYMENT_ID", w.deployment_id);
  for (const auto& [name, value] : w.later_env) own(name, value);
  env.push_back(json::object{
      {"name", site.env_prefix + "INSTANCE_ID"},
      {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.name"}}}}}});
  if (!w.encrypted_env.empty() && !site.decrypts_secrets) own("ENCRYPTED_ENV", w.encrypted_env);
  if (site.hide_kubernetes) {
    for (const char* name : kubernetes_variables) add(name, "");
  }
  return env;
}

json::object probe(const Healthcheck& h, int64_t port) {
  json::object out;
  if (h.post) {
    // An httpGet probe cannot send a POST.
    const std::string url = "http://localhost:" + std::to_string(port) + h.path;
    out["exec"] = {{"command", {"wget", "--spider", "--post-data=", "-q", url}}};
  } else {
    out["httpGet"] = {{"path", h.path}, {"port", port}};
  }
  auto add = [&](const char* name, int64_t value) {
    if (value != 0) out[name] = value;
  };
  add("initialDelaySeconds", h.initial_delay_seconds);
  add("periodSeconds", h.interval_seconds);
  add("timeoutSeconds", h.timeout_seconds);
  add("failureThreshold", h.failure_threshold);
  return out;
}

json::object container(const Workload& w, const Site& site) {
  json::object c{{"name", "deployment"}, {"image", w.image}, {"imagePullPolicy", "IfNotPresent"}};
  if (!w.command.empty()) c["command"] = json::array(w.command.begin(), w.command.end());
  c["env"] = environment(w, site);
  if (has_secret(w, site))
    c["envFrom"] = json::array{{{"secretRef", {{"name", secret_name(w.deployment_id)}}}}};
  c["ports"] =
      json::array{{{"name", "deployment"}, {"containerPort", w.port}, {"protocol", "TCP"}}};
  auto share = [&](int64_t limit) { return std::max<int64_t>(1, limit / site.request_divisor); };
  c["resources"] =
      resources({w.cpu_millicores, w.memory_mib}, {share(w.cpu_millicores), share(w.memory_mib)});
  if (w.healthcheck) {
    c["livenessProbe"] = probe(*w.healthcheck, w.port);
    c["readinessProbe"] = probe(*w.healthcheck, w.port);
  }
  if (!w.shutdown_signal.empty() && w.shutdown_signal != "SIGTERM") {
    c["lifecycle"] = {
        {"preStop", {{"exec", {{"command", {"kill", "-" + w.shutdown_signal, "1"}}}}}}};
  }
  return c;
}

// Sentinels have a namespace of their own. A term without namespaces would look in the pod's
// namespace only.
json::object near_sentinels(const Workload& w, const Site& site) {
  json::object match{{site.labels.id("environment.id"), w.environment_id},
                     {labels::component, labels::component_sentinel}};
  json::object term{{"topologyKey", labels::zone},
                    {"namespaces", json::array{site.sentinel_namespace}},
                    {"labelSelector", {{"matchLabels", std::move(match)}}}};
  json::array preferred;
  preferred.push_back(json::object{{"weight", 100}, {"podAffinityTerm", std::move(term)}});
  return {
      {"podAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", std::move(preferred)}}}};
}

// The name is always written. A template that once had one keeps it in the older field
// `serviceAccount`, which nobody owns, and the API server would go on taking it from there.
std::string account_of(const Workload& w, const Site& site) {
  if (!w.pod.service_account.empty()) return w.pod.service_account;
  return has_secret(w, site) ? secret_name(w.deployment_id) : "default";
}

json::object pod_spec(const Workload& w, const Site& site) {
  json::object spec = begin_pod_spec(site.placement);
  if (!w.pod.mount_service_account_token || site.hide_kubernetes)
    spec["automountServiceAccountToken"] = false;
  if (site.hide_kubernetes) spec["enableServiceLinks"] = false;
  spec["serviceAccountName"] = account_of(w, site);
  add_placement(spec, site.placement, site.labels.id("deployment.id"), w.deployment_id);
  spec["affinity"] = near_sentinels(w, site);
  auto& containers = spec["containers"].emplace_array();
  containers.push_back(container(w, site));
  return spec;
}

}  // namespace

json::object render_template(const Workload& w, const Site& site) {
  json::object pod_labels = render_labels(w, site);
  if (site.inject_label) pod_labels[site.labels.id("inject")] = "true";
  json::object metadata;
  if (w.controller == Controller::replica_set)
    metadata["generateName"] = w.name + "-";
  else
    pod_labels[labels::controller] = word_of(w.controller);
  metadata["labels"] = std::move(pod_labels);
  if (has_secret(w, site)) {
    json::object secrets{{"keyring", w.environment_id}};
    for (const auto& [name, ciphertext] : w.secrets) secrets[name] = ciphertext;
    metadata["annotations"] = {{labels::secrets_hash, template_hash(secrets)}};
  }
  json::object out{{"metadata", std::move(metadata)}, {"spec", pod_spec(w, site)}};
  add_pod_settings(out, w.pod);
  return out;
}

}  // namespace davit::deployment
