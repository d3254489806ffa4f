#include "agent_manifests.hpp"

#include <array>
#include <map>

#include <openssl/sha.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <davit/base64.hpp>

#include "services/hexadecimal.hpp"
#include "yaml.hpp"

namespace davit::host {
namespace {

namespace json = boost::json;

constexpr int user = 65532;  // "nonroot" of images without a distribution
constexpr int readable_by_group = 0440;

json::object labels_of(const AgentInstallation& i) {
  return {{"app.kubernetes.io/name", "davit"},
          {"app.kubernetes.io/instance", i.name},
          {"app.kubernetes.io/component", "agent"},
          {"app.kubernetes.io/managed-by", "davit"}};
}

// What tells the agent's pods from all others. A Deployment's selector never changes.
json::object selecting(const AgentInstallation& i) {
  return {{"app.kubernetes.io/name", "davit"}, {"app.kubernetes.io/instance", i.name}};
}

json::object metadata(const AgentInstallation& i, const std::string& name, const std::string& ns) {
  json::object out{{"name", name}};
  if (!ns.empty()) out["namespace"] = ns;
  out["labels"] = labels_of(i);
  return out;
}

json::object object(const char* version, const char* kind, json::object meta) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(meta)}};
}

std::string text_of(const json::value& value, const char* pointer) {
  json::error_code ignored;
  const json::value* found = value.find_pointer(pointer, ignored);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// The roles under names of the agent's own, so that two agents of one cluster do not share one, and
// what gives them to its account.
void add_roles(const AgentConfiguration& c, const AgentInstallation& i,
               std::vector<json::value>& out) {
  constexpr const char* rbac = "rbac.authorization.k8s.io/v1";
  std::map<std::string, int> given;  // by namespace
  for (const json::value& role : c.rights) {
    const std::string kind = text_of(role, "/kind"), ns = text_of(role, "/metadata/namespace");
    const int number = ++given[ns];
    const std::string name = number == 1 ? i.name : i.name + "-" + std::to_string(number);
    json::object mine = object(rbac, kind.c_str(), metadata(i, name, ns));
    mine["rules"] = role.at("rules");
    out.emplace_back(std::move(mine));
    json::object binding = object(rbac, (kind + "Binding").c_str(), metadata(i, name, ns));
    binding["roleRef"] = {
        {"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
    binding["subjects"] =
        json::array{{{"kind", "ServiceAccount"}, {"name", i.name}, {"namespace", i.ns}}};
    out.emplace_back(std::move(binding));
  }
}

std::string secret_of(const AgentInstallation& i) {
  return i.token_secret.empty() ? i.name + "-token" : i.token_secret;
}

json::object files_of(const AgentConfiguration& c) {
  json::object out;
  for (const auto& [name, text] : c.files) out[name] = text;
  if (!c.ca.empty()) out["ca.crt"] = c.ca;
  return out;
}

std::string hash_of(const json::object& files) {
  const std::string text = json::serialize(files);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> sum{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data());
  return "sha256-" + hexadecimal(sum);
}

json::object probe(const char* path, int failures) {
  return {{"httpGet", {{"path", path}, {"port", "metrics"}}},
          {"periodSeconds", 10},
          {"timeoutSeconds", 5},
          {"failureThreshold", failures}};
}

json::object container(const AgentConfiguration& c, const AgentInstallation& i) {
  json::array args{"run"};
  for (const auto& [name, text] : c.files)
    args.emplace_back(std::string(pod_configuration_dir) + "/" + name);
  const auto mount = [](const char* name, const char* path, bool read_only) {
    json::object out{{"name", name}, {"mountPath", path}};
    if (read_only) out["readOnly"] = true;
    return out;
  };
  constexpr int failures_until_unready = 3, failures_until_restart = 6;
  json::object out{{"name", "davit"}, {"image", i.image}, {"args", std::move(args)}};
  if (i.metrics_port != 0) {
    out["ports"] = json::array{{{"name", "metrics"}, {"containerPort", i.metrics_port}}};
    out["readinessProbe"] = probe("/readyz", failures_until_unready);
    out["livenessProbe"] = probe("/healthz", failures_until_restart);
  }
  out["resources"] = {{"requests", {{"cpu", "50m"}, {"memory", "64Mi"}}}};
  out["securityContext"] = {{"allowPrivilegeEscalation", false},
                            {"readOnlyRootFilesystem", true},
                            {"capabilities", {{"drop", json::array{"ALL"}}}}};
  out["volumeMounts"] =
      json::array{mount("configuration", pod_configuration_dir, true),
                  mount("token", pod_token_dir, true), mount("state", pod_state_dir, false)};
  return out;
}

json::object pod(const AgentConfiguration& c, const AgentInstallation& i) {
  return {
      {"serviceAccountName", i.name},
      {"automountServiceAccountToken", true},
      {"terminationGracePeriodSeconds", c.grace_seconds},
      {"securityContext",
       {{"runAsNonRoot", true},
        {"runAsUser", user},
        {"runAsGroup", user},
        {"fsGroup", user},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", json::array{container(c, i)}},
      {"volumes",
       json::array{{{"name", "configuration"}, {"configMap", {{"name", i.name}}}},
                   {{"name", "token"},
                    {"secret", {{"secretName", secret_of(i)}, {"defaultMode", readable_by_group}}}},
                   {{"name", "state"}, {"emptyDir", json::object()}}}}};
}

// Never two pods at once: the earlier agent of a region ends before the next one begins.
json::object deployment(const AgentConfiguration& c, const AgentInstallation& i) {
  json::object out = object("apps/v1", "Deployment", metadata(i, i.name, i.ns));
  out["spec"] = {{"replicas", 1},
                 {"strategy", {{"type", "Recreate"}}},
                 {"selector", {{"matchLabels", selecting(i)}}},
                 {"template",
                  {{"metadata",
                    {{"labels", labels_of(i)},
                     {"annotations", {{"davit.dev/configuration", hash_of(files_of(c))}}}}},
                   {"spec", pod(c, i)}}}};
  return out;
}

}  // namespace

std::string agent_selector(const std::string& name) {
  return "app.kubernetes.io/name=davit,app.kubernetes.io/managed-by=davit,"
         "app.kubernetes.io/instance=" +
         name;
}

std::vector<json::value> agent_manifests(const AgentConfiguration& c, const AgentInstallation& i) {
  std::vector<json::value> out;
  out.emplace_back(object("v1", "Namespace", metadata(i, i.ns, "")));
  json::object account = object("v1", "ServiceAccount", metadata(i, i.name, i.ns));
  account["automountServiceAccountToken"] = false;
  out.emplace_back(std::move(account));
  add_roles(c, i, out);
  json::object files = object("v1", "ConfigMap", metadata(i, i.name, i.ns));
  files["data"] = files_of(c);
  out.emplace_back(std::move(files));
  if (i.token_secret.empty()) {
    json::object secret = object("v1", "Secret", metadata(i, secret_of(i), i.ns));
    secret["type"] = "Opaque";
    secret["data"] = {{"token", base64(i.token)}};
    out.emplace_back(std::move(secret));
  }
  out.emplace_back(deployment(c, i));
  return out;
}

std::string manifests_text(const std::vector<json::value>& manifests) {
  std::string out;
  for (const json::value& manifest : manifests)
    out += (out.empty() ? "" : "---\n") + to_yaml(manifest, YamlTexts::in_blocks);
  return out;
}

}  // namespace davit::host
