#include "observed.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "conditions.hpp"
#include "fields.hpp"
#include "labels.hpp"

namespace davit::deployment {
namespace json = boost::json;
namespace {

std::string label(const json::value& object, const std::string& name) {
  return member(object_at(object, "/metadata/labels"), name);
}

bool is_terminating(const json::value& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

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

ReplicaSet read_replica_set(const json::value& object) {
  ReplicaSet rs;
  rs.ns = text_at(object, "/metadata/namespace");
  rs.name = text_at(object, "/metadata/name");
  rs.hash = member(object_at(object, "/spec/template/metadata/annotations"), labels::template_hash);
  rs.replicas = integer_at(object, "/spec/replicas").value_or(1);
  rs.replicas_of_other = replicas_updated_in_place(object);
  rs.terminating = is_terminating(object);
  rs.seen = integer_at(object, "/status/observedGeneration").value_or(0) >=
            integer_at(object, "/metadata/generation").value_or(0);
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

// The name of the ReplicaSet that controls the pod; empty: none does.
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

Observed read_observed(const json::array& objects, const Site& site) {
  Observed out;
  for (const auto& object : objects) {
    if (text_at(object, "/metadata/name").empty() || text_at(object, "/metadata/namespace").empty())
      continue;
    if (is_replica_set(object)) {
      out.replica_set = read_replica_set(object);
    } else if (is_autoscaler(object) && site.autoscaling) {
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
