#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "edited.hpp"
#include "fields.hpp"
#include "observed.hpp"
#include "render.hpp"
#include "rollout.hpp"

namespace davit::deployment {
namespace json = boost::json;
namespace {

constexpr size_t named_max = 3;  // pods that a message names

json::object removal(const char* group, const char* version, const char* resource,
                     const std::string& ns, const std::string& name) {
  return {{"group", group},
          {"version", version},
          {"resource", resource},
          {"namespace", ns},
          {"name", name}};
}

void remove_autoscaler(const Observed& observed, json::array& out) {
  const auto& a = observed.autoscaler;
  if (!a || a->terminating) return;
  out.push_back(removal("autoscaling", "v2", "horizontalpodautoscalers", a->ns, a->name));
}

// How many replicas the ReplicaSet should have now. An autoscaler moves between its bounds by
// itself.
int64_t wanted_replicas(const Workload& w, const Observed& observed) {
  if (!w.autoscaling) return w.replicas;
  const int64_t now = observed.replica_set ? observed.replica_set->replicas : 0;
  return std::max(now, w.autoscaling->min_replicas);
}

// What to write into spec.replicas. With an autoscaler the field is its own once it has written it;
// until then leaving it out would make the API server put back its default of 1. Below the lower
// bound it is written all the same: at 0 an autoscaler stands still.
std::optional<int64_t> replicas_to_write(const Workload& w, const Observed& observed) {
  const auto& rs = observed.replica_set;
  if (w.autoscaling && rs && rs->replicas_of_other && rs->replicas >= w.autoscaling->min_replicas)
    return std::nullopt;
  return wanted_replicas(w, observed);
}

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < named_max; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > named_max) out += " and " + std::to_string(names.size() - named_max) + " more";
  return out;
}

// The worst that is known, for people: why pods cannot be made, then what the first troubled pod
// says.
std::string trouble_of(const Observed& observed, bool& failing) {
  std::string out;
  failing = false;
  if (observed.replica_set && !observed.replica_set->trouble.empty()) {
    out = "replica set: " + observed.replica_set->trouble;
    failing = true;
  }
  const Pod* worst = nullptr;
  int64_t others = -1;
  for (const auto& pod : observed.pods) {
    if (pod.trouble.empty() || pod.terminating) continue;
    ++others;
    if (worst == nullptr || (pod.failing && !worst->failing)) worst = &pod;
  }
  if (worst == nullptr) return out;
  failing = failing || worst->failing;
  out += (out.empty() ? "pod " : "; pod ") + worst->name + ": " + worst->trouble;
  if (others > 0) out += " (and " + std::to_string(others) + " more)";
  return out;
}

json::array children_of(const Observed& observed, int64_t port, const Site& site) {
  json::array out;
  for (const auto& pod : observed.pods) {
    if (!pod.active() || pod.ip.empty()) continue;
    out.push_back(json::object{{"name", pod.name},
                               {"address", address_of(pod, port, site)},
                               {"status", pod.status},
                               {"cpu_millicores", pod.cpu_millicores},
                               {"memory_mib", pod.memory_mib}});
  }
  return out;
}

json::object status_of(const Observed& observed, const Wanted& wanted, int64_t port,
                       const Site& site) {
  const Counts counts = count(observed.pods, wanted.hash);
  bool failing = false;
  std::string message;
  std::string health = "healthy";
  if (wanted.replicas == 0) {
    health = "paused";
  } else if (counts.ready < wanted.replicas || counts.updated < wanted.replicas ||
             !counts.stale.empty()) {
    message = trouble_of(observed, failing);
    health = failing && counts.ready < wanted.replicas ? "unhealthy" : "progressing";
  }
  json::object detail{{"template_hash", wanted.hash}};
  if (!counts.stale.empty()) {
    detail["stale_pods"] = json::array(counts.stale.begin(), counts.stale.end());
    if (!message.empty()) message += "; ";
    message += "of an older template: " + list(counts.stale);
  }
  return {{"gone", false},
          {"health", health},
          {"desired", wanted.replicas},
          {"updated", counts.updated},
          {"ready", counts.ready},
          {"stale", counts.stale.size()},
          {"message", message},
          {"detail", std::move(detail)},
          {"children", children_of(observed, port, site)}};
}

std::string answer(json::array apply, json::array remove, json::object status) {
  return json::serialize(json::object{{"apply", std::move(apply)},
                                      {"delete", std::move(remove)},
                                      {"status", std::move(status)},
                                      {"look_again_ms", 0}});
}

std::string keep(const Workload& w, const Observed& observed, const Site& site) {
  json::object pod_template = render_template(w, site);
  Wanted wanted{wanted_replicas(w, observed), template_hash(pod_template)};
  if (observed.replica_set)
    wanted.hash = hash_after_edits(wanted.hash, pod_template, *observed.replica_set);

  json::array apply;
  apply.push_back(json::object{{"object", render_namespace(w, site)}, {"mode", "ensure"}});
  apply.push_back(
      json::object{{"object", render_replica_set(w, site, std::move(pod_template), wanted.hash,
                                                 replicas_to_write(w, observed))},
                   {"mode", "apply"},
                   {"replace_on_immutable", true}});
  const size_t replica_set = apply.size() - 1;
  json::array remove;
  if (w.autoscaling) {
    apply.push_back(json::object{{"object", render_autoscaler(w, site)},
                                 {"mode", "apply"},
                                 {"owner", replica_set},
                                 {"controller", true}});
  } else {
    remove_autoscaler(observed, remove);
  }
  // Before the new template is in the cluster, a deleted pod would come back as the old one.
  const auto& rs = observed.replica_set;
  if (site.replace_stale && rs && !rs->terminating && rs->hash == wanted.hash) {
    for (const auto& name : replace_now(observed.pods, wanted, site.max_unavailable)) {
      remove.push_back(removal("", "v1", "pods", w.ns, name));
    }
  }
  return answer(std::move(apply), std::move(remove), status_of(observed, wanted, w.port, site));
}

// Pods go with their ReplicaSet, by the cluster's garbage collection.
std::string clear(const Observed& observed, const Site& site) {
  json::array remove;
  remove_autoscaler(observed, remove);
  const auto& rs = observed.replica_set;
  if (rs && !rs->terminating)
    remove.push_back(removal("apps", "v1", "replicasets", rs->ns, rs->name));
  const Counts counts = count(observed.pods, rs ? rs->hash : "");
  const int64_t port = rs && rs->port != 0 ? rs->port : site.default_port;
  const bool gone = observed.nothing();
  json::object status{{"gone", gone},
                      {"health", gone ? "unknown" : "progressing"},
                      {"desired", 0},
                      {"updated", 0},
                      {"ready", counts.ready},
                      {"stale", counts.active},
                      {"message", gone ? "" : "being deleted"},
                      {"detail", json::object{}},
                      {"children", children_of(observed, port, site)}};
  return answer({}, std::move(remove), std::move(status));
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  auto value = parse_object(input, "the input of reconcile");
  if (!value.ok()) return value.error();
  const auto& root = value->get_object();
  Observed observed;
  if (const auto* objects = root.if_contains("observed")) {
    if (!objects->is_array())
      return Error{Code::invalid_argument, "must be a list", "observed", {}};
    observed = read_observed(objects->get_array());
  }
  const auto* desired = root.if_contains("desired");
  if (desired == nullptr || desired->is_null()) return clear(observed, site);
  if (!desired->is_object())
    return Error{Code::invalid_argument, "must be an object", "desired", {}};
  const auto workload = read_workload(desired->get_object(), site);
  if (!workload.ok()) return workload.error();
  return keep(*workload, observed, site);
}

}  // namespace davit::deployment
