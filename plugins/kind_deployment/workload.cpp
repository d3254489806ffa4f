#include "workload.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/ascii.hpp>
#include <davit/base64.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/message.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr std::pair<std::string_view, std::string_view> later_variables[] = {
    {"environment_slug", "ENVIRONMENT_SLUG"},
    {"region", "REGION"},
    {"git_commit_sha", "GIT_COMMIT_SHA"},
    {"git_branch", "GIT_BRANCH"},
    {"git_repo", "GIT_REPO"},
    {"git_commit_message", "GIT_COMMIT_MESSAGE"},
};

void read_names(const Fields& f, Workload& w) {
  w.ns = f.needed("k8s_namespace");
  if (auto fault = dns_label_fault(w.ns)) f.reject("k8s_namespace", *fault);
  w.name = f.needed("k8s_name");
  if (auto fault = dns_subdomain_fault(w.name)) f.reject("k8s_name", *fault);
  w.workspace_id = needed_id(f, "workspace_id");
  w.project_id = needed_id(f, "project_id");
  w.environment_id = needed_id(f, "environment_id");
  w.deployment_id = needed_id(f, "deployment_id");
  w.app_id = optional_id(f, "app_id");
  w.build_id = optional_id(f, "build_id");
}

void read_container(const Fields& f, const Site& site, Workload& w) {
  w.image = needed_image(f, "image");
  w.command = f.strings("command");
  w.cpu_millicores = f.integer("cpu_millicores", 1, cpu_millicores_top);
  w.memory_mib = f.integer("memory_mib", 1, memory_mib_top);
  w.port = f.integer("port", 0, 65535);
  if (w.port == 0) w.port = site.default_port;
  w.shutdown_signal = f.string("shutdown_signal");
  const auto& s = w.shutdown_signal;
  if (!s.empty() && s != "SIGTERM" && s != "SIGINT" && s != "SIGQUIT" && s != "SIGKILL") {
    f.reject("shutdown_signal",
             "must be SIGTERM, SIGINT, SIGQUIT, SIGKILL or empty, not \"" + s + "\"");
  }
}

// The pods of a StatefulSet have its name and a number as their host name, and the name and a hash
// of 10 characters as a label.
constexpr size_t stateful_set_name_max = 52;

void read_controller(const Fields& f, const Site& site, Workload& w) {
  w.controller = site.controllers.front();
  const std::string word = f.string("controller");
  if (!word.empty()) {
    const auto controller = controller_of_word(word);
    if (!controller) return f.reject("controller", controllers_fault(word));
    if (!site.allows(*controller)) {
      f.reject("controller", "\"" + word + "\" is not one of the kind's setting controllers");
    }
    w.controller = *controller;
  }
  if (w.controller != Controller::stateful_set) return;
  if (auto fault = service_name_fault(w.name, stateful_set_name_max)) f.reject("k8s_name", *fault);
}

Autoscaling read_bounds(const Fields& a) {
  Autoscaling to;
  to.min_replicas = a.integer("min_replicas", 1, int32_top);
  to.max_replicas = a.integer("max_replicas", 1, int32_top);
  to.cpu_threshold = a.optional_integer("cpu_threshold", 1, int32_top);
  to.memory_threshold = a.optional_integer("memory_threshold", 1, int32_top);
  if (to.max_replicas < to.min_replicas) {
    a.reject("max_replicas", "must be at least min_replicas (" + std::to_string(to.min_replicas) +
                                 "), not " + std::to_string(to.max_replicas));
  }
  return to;
}

void read_scale(const Fields& f, const Site& site, Workload& w) {
  const auto replicas = f.optional_integer("replicas", 0, int32_top);
  const auto* object = f.object("autoscaling");
  w.replicas = replicas.value_or(0);
  if (object == nullptr) {
    if (!replicas && !site.absent_replicas_is_zero) {
      f.reject("replicas", "exactly one of replicas and autoscaling is needed; neither is set");
    }
    return;
  }
  const Autoscaling bounds = read_bounds(f.inside(*object, "autoscaling"));
  if (replicas) {
    // A peer may set both, with the same number, for agents that know only one of the two.
    if (bounds.min_replicas != *replicas || bounds.max_replicas != *replicas)
      f.reject("replicas", "exactly one of replicas and autoscaling is needed; both are set");
    return;
  }
  if (site.autoscaling) {
    w.autoscaling = bounds;
  } else {
    w.replicas = bounds.min_replicas;
    w.notes.push_back("autoscaling is turned off here: min_replicas pods");
  }
}

void read_surge(const Fields& f, const Site& site, Workload& w) {
  const auto surge = f.optional_integer("max_surge", 0, int32_top);
  w.max_surge = surge.value_or(site.max_surge);
  if (w.max_surge == 0 && site.max_unavailable == 0)
    f.reject("max_surge", "must be at least 1 here, where max_unavailable is 0");
  if (surge.value_or(0) == 0) return;
  if (w.controller == Controller::stateful_set)
    w.notes.push_back("max_surge: a StatefulSet has none");
  if (w.controller == Controller::replica_set && w.autoscaling)
    w.notes.push_back("max_surge: a ReplicaSet with autoscaling has none");
}

void read_budget(const Fields& f, const Site& site, Workload& w) {
  w.disruption_budget = site.disruption_budget;
  const auto* object = f.object("disruption_budget");
  if (object == nullptr) return;
  const Fields b = f.inside(*object, "disruption_budget");
  w.disruption_budget = {b.string("min_available"), b.string("max_unavailable")};
  const auto& [least, most] = w.disruption_budget;
  for (const auto& [key, bound] :
       {std::pair("min_available", &least), std::pair("max_unavailable", &most)}) {
    if (bound->empty()) continue;
    if (auto fault = bound_fault(*bound)) b.reject(key, *fault);
  }
  if (!least.empty() && !most.empty())
    b.reject("max_unavailable", "must not be set beside min_available");
  if (!site.disruption_budgets && !w.disruption_budget.empty()) {
    w.disruption_budget = {};
    w.notes.push_back("disruption budgets are turned off here");
  }
}

struct JsonField {
  const json::object* object = nullptr;
  std::optional<std::string> raw;  // base64
};

// Reads a field of JSON bytes. A field without content (no bytes, "null") counts as absent.
std::optional<JsonField> json_field(const Fields& f, std::string_view key) {
  if (!f.has(key) || f.is_empty_string(key)) return std::nullopt;
  JsonField out;
  out.object = f.object(key);
  if (out.object == nullptr) return std::nullopt;
  out.raw = f.inside(*out.object, key).optional_string(raw_bytes_key);
  if (out.raw && (out.raw->empty() || *out.raw == base64("null"))) return std::nullopt;
  return out;
}

void read_healthcheck(const Fields& f, Workload& w) {
  const auto field = json_field(f, "healthcheck");
  if (!field) return;
  if (field->raw) {  // as Krane does
    w.notes.push_back("healthcheck is not JSON: no probes");
    return;
  }
  const Fields h = f.inside(*field->object, "healthcheck");
  h.only({"method", "path", "intervalSeconds", "timeoutSeconds", "failureThreshold",
          "initialDelaySeconds"});
  Healthcheck& to = w.healthcheck.emplace();
  const std::string method = h.needed("method");
  if (method != "GET" && method != "POST")
    h.reject("method", "must be GET or POST, not \"" + method + "\"");
  to.post = method == "POST";
  to.path = h.needed("path");
  if (to.path.front() != '/') h.reject("path", "must begin with \"/\", not \"" + to.path + "\"");
  to.interval_seconds = h.integer("intervalSeconds", 0, int32_top);
  to.timeout_seconds = h.integer("timeoutSeconds", 0, int32_top);
  to.failure_threshold = h.integer("failureThreshold", 0, int32_top);
  to.initial_delay_seconds = h.integer("initialDelaySeconds", 0, int32_top);
}

// Where the blob goes to the pod as it is, it may be anything. If it is JSON, its variable names
// are checked, because a pod cannot have every name.
void read_secrets(const Fields& f, const Site& site, Workload& w) {
  constexpr std::string_view key = "encrypted_environment_variables";
  const auto field = json_field(f, key);
  if (!field) return;
  if (field->raw) {
    w.encrypted_env = *field->raw;
    if (site.decrypts_secrets) f.reject(key, "must be JSON, {\"secrets\": {name: ciphertext}}");
    return;
  }
  const Fields config = f.inside(*field->object, key);
  config.only({"secrets"});
  const auto* secrets = config.object("secrets");
  if (secrets == nullptr || secrets->empty()) return;
  const Fields each = config.inside(*secrets, "secrets");
  for (const auto& member : *secrets) {
    const std::string name(member.key().data(), member.key().size());
    if (auto wrong = environment_name_fault(name)) each.reject(name, *wrong);
    auto ciphertext = each.optional_string(name);
    if (!ciphertext) each.reject(name, "must be a string");
    w.secrets[name] = std::move(ciphertext).value_or("");
  }
  w.encrypted_env = base64(json::serialize(*field->object));
  if (!site.decrypts_secrets) return;
  if (auto fault = dns_subdomain_fault(secret_name(w.deployment_id)))
    f.reject("deployment_id", "names a Secret, which " + *fault);
}

}  // namespace

Result<Workload> read_workload(std::string_view apply, const Site& site) {
  auto value = parse_object(apply, "the deployment");
  if (!value.ok()) return value.error();
  return read_workload(value->get_object(), site);
}

Result<Workload> read_workload(const json::object& message, const Site& site) {
  std::optional<Error> fault;
  const Fields f(message, fault);
  Workload w;
  read_names(f, w);
  read_controller(f, site, w);
  read_container(f, site, w);
  read_scale(f, site, w);
  read_surge(f, site, w);
  read_budget(f, site, w);
  read_healthcheck(f, w);
  read_secrets(f, site, w);
  w.pod = read_pod_settings(f, site.pod, site.labels);
  for (const auto& [field, variable] : later_variables) {
    if (auto text = f.optional_string(field)) w.later_env.emplace_back(variable, std::move(*text));
  }
  if (fault) return *fault;
  return w;
}

std::string secret_name(std::string_view deployment_id) {
  std::string out = "deploy-" + lower_case(deployment_id);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

Result<Named> identify(std::string_view apply) {
  auto value = parse_object(apply, "the deployment");
  if (!value.ok()) return value.error();
  std::optional<Error> fault;
  const Fields f(value->get_object(), fault);
  Named named{f.needed("deployment_id"), f.needed("k8s_namespace"), f.needed("k8s_name")};
  if (fault) return *fault;
  return named;
}

bool wants_none(std::string_view apply, const Site& site) {
  const auto value = parse_object(apply, "the deployment");
  if (!value.ok()) return false;
  std::optional<Error> fault;
  const Fields f(value->get_object(), fault);
  if (f.has("autoscaling")) return false;
  const auto replicas = f.optional_integer("replicas", 0, int32_top);
  if (fault) return false;
  return replicas ? *replicas == 0 : site.absent_replicas_is_zero;
}

}  // namespace davit::deployment
