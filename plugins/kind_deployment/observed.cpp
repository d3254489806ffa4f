#include "observed.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/objects.hpp"
#include "labels.hpp"
#include "workload.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// Our own writes are server-side applies. An autoscaler or kubectl scale updates the field in
// place.
bool replicas_updated_in_place(const json::value& object) {
  const auto* all = array_at(object, "/metadata/managedFields");
  if (all == nullptr) return false;
  return std::any_of(all->begin(), all->end(), [](const json::value& entry) {
    return text_at(entry, "/operation") == "Update" &&
           object_at(entry, "/fieldsV1/f:spec/f:replicas") != nullptr;
  });
}

std::string template_owners(const json::value& object) {
  std::string out;
  const auto* all = array_at(object, "/metadata/managedFields");
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const json::value& entry = (*all)[i];
    if (object_at(entry, "/fieldsV1/f:spec/f:template") == nullptr) continue;
    out.append(text_at(entry, "/manager")).append(" ").append(text_at(entry, "/time")) += '\n';
  }
  return out;
}

// Kubernetes says of a StatefulSet only in events why its pods are refused.
std::string missing_pods(const json::value& stateful_set) {
  const int64_t wanted = integer_at(stateful_set, "/spec/replicas").value_or(1);
  const int64_t made = integer_at(stateful_set, "/status/replicas").value_or(0);
  if (!is_seen(stateful_set) || made >= wanted) return {};
  return std::to_string(made) + " of " + std::to_string(wanted) +
         " pods are made; `kubectl describe statefulset " +
         std::string(text_at(stateful_set, "/metadata/name")) + "` says why";
}

Trouble trouble_of(const json::value& object, Controller controller) {
  if (controller == Controller::stateful_set) return {missing_pods(object), false};
  if (says(object, "ReplicaFailure", "True")) return {saying(object, "ReplicaFailure"), true};
  if (controller != Controller::deployment) return {};
  const auto* spec = object_at(object, "/spec");
  const auto* paused = value_in(spec, "paused");
  if (paused != nullptr && *paused == true) return {"somebody has paused it", true};
  return says(object, "Progressing", "False") ? Trouble{saying(object, "Progressing"), true}
                                              : Trouble();
}

ObservedController read_controller(const json::value& object, Controller controller) {
  ObservedController rs;
  rs.ns = text_at(object, "/metadata/namespace");
  rs.name = text_at(object, "/metadata/name");
  rs.uid = text_at(object, "/metadata/uid");
  rs.hash =
      text_in(object_at(object, "/spec/template/metadata/annotations"), labels::template_hash);
  rs.replicas = integer_at(object, "/spec/replicas").value_or(1);
  rs.replicas_of_other = replicas_updated_in_place(object);
  rs.terminating = is_terminating(object);
  rs.stamped = !label(object, labels::region_stamp).empty();
  rs.seen = is_seen(object);
  if (integer_at(object, "/status/replicas"))  // readyReplicas is left out when it is 0
    rs.ready = integer_at(object, "/status/readyReplicas").value_or(0);
  rs.port =
      integer_at(object, "/spec/template/spec/containers/0/ports/0/containerPort").value_or(0);
  rs.trouble = trouble_of(object, controller);
  rs.spec = object_at(object, "/spec");
  rs.pod_template = object_at(object, "/spec/template");
  rs.template_owners = template_owners(object);
  return rs;
}

// One that the site allows. A Deployment makes ReplicaSets with the labels of its pods: they are
// its own, and nobody's workload.
std::optional<Controller> controller_in(const json::value& object, const Site& site) {
  for (const Controller c : site.controllers) {
    if (!is(object, "apps", kind_of(c))) continue;
    if (c == Controller::replica_set && !controlling(object, "Deployment").empty())
      return std::nullopt;
    return c;
  }
  return std::nullopt;
}

bool is_autoscaler(const json::value& o) {
  return is(o, "autoscaling", "HorizontalPodAutoscaler");
}
bool is_secret(const json::value& o) {
  return is(o, "", "Secret");
}
bool is_service(const json::value& o) {
  return is(o, "", "Service");
}
bool is_budget(const json::value& o) {
  return is(o, "policy", "PodDisruptionBudget");
}
bool is_account(const json::value& o) {
  return is(o, "", "ServiceAccount");
}

Present present(const json::value& object) {
  return {std::string(text_at(object, "/metadata/namespace")),
          std::string(text_at(object, "/metadata/name")), is_terminating(object)};
}

// The workload of a pod, by the object that controls it.
std::string_view workload_of_pod(const json::value& pod) {
  const auto maker = controller_of_word(label(pod, labels::controller));
  if (maker == Controller::deployment) return deployment_of(pod);
  const auto name = controlling(pod, kind_of(maker.value_or(Controller::replica_set)));
  // A StatefulSet is made anew around its pods. Nothing controls them meanwhile.
  if (maker == Controller::stateful_set && !is_controlled(pod)) return stateful_set_of(pod);
  return name;
}

// The workload of a Secret or a ServiceAccount. One of another name is a copy, whatever it says.
std::string workload_of(const json::value& object, const std::string& deployment_id) {
  if (text_at(object, "/metadata/name") != secret_name(deployment_id)) return {};
  const std::string_view said =
      text_in(object_at(object, "/metadata/annotations"), labels::workload);
  return std::string(said.empty() ? controlling_replica_set(object) : said);  // Krane's says none
}

}  // namespace

Observed read_observed(const json::array& objects, const Site& site) {
  Observed out;
  for (const auto& object : objects) {
    if (text_at(object, "/metadata/name").empty() || text_at(object, "/metadata/namespace").empty())
      continue;
    if (const auto controller = controller_in(object, site)) {
      out.controllers[*controller] = read_controller(object, *controller);
    } else if (is_autoscaler(object) && site.autoscaling) {
      out.autoscaler = present(object);
    } else if (is_service(object) && site.allows(Controller::stateful_set)) {
      out.service = present(object);
    } else if (is_budget(object) && site.disruption_budgets) {
      out.budget = present(object);
    } else if (is_secret(object)) {
      out.secret = present(object);
    } else if (is_account(object)) {
      out.account = present(object);
    } else if (is_pod(object)) {
      out.pods.push_back(read_pod(object));
    }
  }
  sort_by_name(out.pods);
  return out;
}

Result<Named> attribute(const json::value& object, const Site& site) {
  const Error unknown{Code::not_found, "no deployment's object"};
  if (label(object, labels::managed_by) != site.labels.managed_by) return unknown;
  if (label(object, labels::component) != labels::component_deployment) return unknown;
  Named named;
  named.id = label(object, site.labels.id("deployment.id"));
  named.ns = text_at(object, "/metadata/namespace");
  if (is_pod(object))
    named.name = workload_of_pod(object);
  else if (controller_in(object, site) || is_autoscaler(object) || is_service(object) ||
           is_budget(object))
    named.name = text_at(object, "/metadata/name");
  else if (is_secret(object) || is_account(object))
    named.name = workload_of(object, named.id);
  if (named.ns.empty() || named.name.empty()) return unknown;
  return named;
}

std::string address_of(const Pod& pod, int64_t port, const Site& site) {
  if (site.address_is_ip) return address_by_ip(pod, port);
  std::string host = pod.ip;
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c == '.' || c == ':'; }, '-');
  return host + "." + pod.ns + ".pod." + site.cluster_domain + ":" + std::to_string(port);
}

}  // namespace davit::deployment
