#include "observed.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/quantity.hpp>
#include <davit/utf8.hpp>

#include "fields.hpp"
#include "labels.hpp"

namespace davit::deployment {
namespace json = boost::json;
namespace {

constexpr size_t trouble_max = 300;  // a scheduler's message lists every node

std::string member(const json::object* from, std::string_view key) {
  const auto* v = from == nullptr ? nullptr : from->if_contains({key.data(), key.size()});
  const auto* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string{} : std::string(s->data(), s->size());
}

std::string label(const json::value& object, const std::string& name) {
  return member(object_at(object, "/metadata/labels"), name);
}

const json::object* condition(const json::value& object, std::string_view type) {
  const auto* all = array_at(object, "/status/conditions");
  if (all == nullptr) return nullptr;
  for (const auto& c : *all) {
    if (const auto* o = c.if_object(); o != nullptr && member(o, "type") == type) return o;
  }
  return nullptr;
}

bool is_true(const json::object* c) {
  return member(c, "status") == "True";
}

// "FailedCreate: pods is forbidden": what a condition says, cut to a readable length.
std::string saying(const json::object* c) {
  std::string reason = member(c, "reason");
  const std::string message = member(c, "message");
  if (!message.empty()) reason += (reason.empty() ? "" : ": ") + message;
  return shortened(reason, trouble_max);
}

bool is_terminating(const json::value& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

std::string pod_status(const json::value& pod) {
  const auto phase = text_at(pod, "/status/phase");
  if (phase == "Failed") return "failed";
  if (phase == "Succeeded") return "done";
  if (phase == "Running") {
    const bool ready =
        is_true(condition(pod, "ContainersReady")) || is_true(condition(pod, "Ready"));
    return ready ? "running" : "pending";
  }
  return phase == "Pending" || phase.empty() ? "pending" : "inactive";
}

void read_trouble(const json::value& object, Pod& pod) {
  if (pod.status == "failed") {
    const auto reason = text_at(object, "/status/reason");
    pod.trouble = reason.empty() ? "Failed" : std::string(reason);
    pod.failing = true;
    return;
  }
  const auto waiting = text_at(object, "/status/containerStatuses/0/state/waiting/reason");
  if (!waiting.empty() && waiting != "ContainerCreating" && waiting != "PodInitializing") {
    pod.trouble = waiting;
    pod.failing = true;
    return;
  }
  // May pass by itself: a node can come.
  const auto* scheduled = condition(object, "PodScheduled");
  if (member(scheduled, "status") == "False") pod.trouble = saying(scheduled);
}

Pod read_pod(const json::value& object) {
  Pod pod;
  pod.name = text_at(object, "/metadata/name");
  pod.ns = text_at(object, "/metadata/namespace");
  pod.ip = text_at(object, "/status/podIP");
  if (pod.ip.empty()) pod.ip = text_at(object, "/status/podIPs/0/ip");
  pod.hash = member(object_at(object, "/metadata/annotations"), labels::template_hash);
  pod.status = pod_status(object);
  pod.terminating = is_terminating(object);
  read_trouble(object, pod);
  constexpr std::string_view limits = "/spec/containers/0/resources/limits";
  pod.cpu_millicores = millicores_of(text_at(object, std::string(limits) + "/cpu")).value_or(0);
  pod.memory_mib = mib_of(text_at(object, std::string(limits) + "/memory")).value_or(0);
  return pod;
}

// Our own writes are server-side applies; an autoscaler or kubectl scale updates the field in
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

ReplicaSet read_replica_set(const json::value& object) {
  ReplicaSet rs;
  rs.ns = text_at(object, "/metadata/namespace");
  rs.name = text_at(object, "/metadata/name");
  rs.hash = member(object_at(object, "/spec/template/metadata/annotations"), labels::template_hash);
  rs.replicas = integer_at(object, "/spec/replicas").value_or(1);
  rs.replicas_of_other = replicas_updated_in_place(object);
  rs.terminating = is_terminating(object);
  rs.port =
      integer_at(object, "/spec/template/spec/containers/0/ports/0/containerPort").value_or(0);
  if (const auto* failure = condition(object, "ReplicaFailure"); is_true(failure))
    rs.trouble = saying(failure);
  rs.pod_template = object_at(object, "/spec/template");
  rs.template_owners = template_owners(object);
  return rs;
}

bool is(const json::value& object, std::string_view group, std::string_view kind) {
  const auto version = text_at(object, "/apiVersion");
  if (text_at(object, "/kind") != kind) return false;
  if (group.empty()) return version.find('/') == std::string_view::npos;
  return version.size() > group.size() && version.substr(0, group.size()) == group &&
         version[group.size()] == '/';
}
bool is_replica_set(const json::value& o) {
  return is(o, "apps", "ReplicaSet");
}
bool is_autoscaler(const json::value& o) {
  return is(o, "autoscaling", "HorizontalPodAutoscaler");
}
bool is_pod(const json::value& o) {
  return is(o, "", "Pod");
}

// The controlling owner of kind ReplicaSet.
std::string owner_name(const json::value& pod) {
  const auto* owners = array_at(pod, "/metadata/ownerReferences");
  if (owners == nullptr) return {};
  for (const auto& owner : *owners) {
    const auto* o = owner.if_object();
    const auto* controls = o == nullptr ? nullptr : o->if_contains("controller");
    if (controls != nullptr && controls->is_bool() && controls->get_bool() &&
        is_replica_set(owner)) {
      return member(o, "name");
    }
  }
  return {};
}

}  // namespace

Observed read_observed(const json::array& objects) {
  Observed out;
  for (const auto& object : objects) {
    if (text_at(object, "/metadata/name").empty() || text_at(object, "/metadata/namespace").empty())
      continue;
    if (is_replica_set(object)) {
      out.replica_set = read_replica_set(object);
    } else if (is_autoscaler(object)) {
      out.autoscaler =
          Autoscaler{std::string(text_at(object, "/metadata/namespace")),
                     std::string(text_at(object, "/metadata/name")), is_terminating(object)};
    } else if (is_pod(object)) {
      out.pods.push_back(read_pod(object));
    }
  }
  std::sort(out.pods.begin(), out.pods.end(),
            [](const Pod& a, const Pod& b) { return a.name < b.name; });
  return out;
}

Result<Named> attribute(const json::value& object, const Site& site) {
  const Error unknown{Code::not_found, "no deployment's object", {}, {}};
  if (label(object, labels::managed_by) != site.managed_by) return unknown;
  if (label(object, labels::component) != labels::component_deployment) return unknown;
  Named named;
  named.id = label(object, labels::id(site, "deployment.id"));
  named.ns = text_at(object, "/metadata/namespace");
  if (is_pod(object))
    named.name = owner_name(object);
  else if (is_replica_set(object) || is_autoscaler(object))
    named.name = text_at(object, "/metadata/name");
  if (named.ns.empty() || named.name.empty()) return unknown;
  return named;
}

std::string address_of(const Pod& pod, int64_t port, const Site& site) {
  const bool v6 = pod.ip.find(':') != std::string::npos;
  const std::string end = ":" + std::to_string(port);
  if (site.address_is_ip) return (v6 ? "[" + pod.ip + "]" : pod.ip) + end;
  std::string host = pod.ip;
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c == '.' || c == ':'; }, '-');
  return host + "." + pod.ns + ".pod." + site.cluster_domain + end;
}

}  // namespace davit::deployment
