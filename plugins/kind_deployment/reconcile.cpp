#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "edited.hpp"
#include "fields.hpp"
#include "made_of.hpp"
#include "observed.hpp"
#include "render.hpp"
#include "rollout.hpp"
#include "status.hpp"

namespace davit::deployment {
namespace json = boost::json;
namespace {

constexpr int64_t times_end_ms = 253'402'300'800'000;  // the end of the year 9999

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

// How many replicas the ReplicaSet should have now. With autoscaling it is the present number, but
// at least the lower bound.
int64_t wanted_replicas(const Workload& w, const Observed& observed) {
  if (!w.autoscaling) return w.replicas;
  const int64_t now = observed.replica_set ? observed.replica_set->replicas : 0;
  return std::max(now, w.autoscaling->min_replicas);
}

// What to write into spec.replicas; nullopt: the field is left out. Once an autoscaler has written
// the field, it owns it. Before that, leaving the field out would make the API server put back its
// default of 1. A value below the lower bound is always overwritten, because an autoscaler does not
// act at 0.
std::optional<int64_t> replicas_to_write(const Workload& w, const Observed& observed) {
  const auto& rs = observed.replica_set;
  if (w.autoscaling && rs && rs->replicas_of_other && rs->replicas >= w.autoscaling->min_replicas)
    return std::nullopt;
  return wanted_replicas(w, observed);
}

std::string answer(json::array apply, json::array remove, json::object status,
                   int64_t look_again_ms) {
  return json::serialize(json::object{{"apply", std::move(apply)},
                                      {"delete", std::move(remove)},
                                      {"status", std::move(status)},
                                      {"look_again_ms", look_again_ms}});
}

Replacement replacement(const Observed& observed, int64_t replicas, const std::string& wanted_hash,
                        int64_t now_ms, const Site& site) {
  const auto& rs = observed.replica_set;
  if (!site.replace_stale || !rs || rs->terminating) return {};
  // Until the new template is in the cluster and the controller acts on it, a deleted pod would
  // come back with the old template.
  if (rs->hash != wanted_hash) return {};
  if (!rs->seen) return {{}, 0, "the ReplicaSet's controller has not seen the newest template yet"};
  return replace_now(observed.pods, replicas,
                     {now_ms, site.max_unavailable, site.min_ready_seconds * 1000,
                      site.replace_after_seconds * 1000});
}

std::string keep(const Workload& w, Observed& observed, int64_t now_ms, const Site& site) {
  json::object pod_template = render_template(w, site);
  std::string hash = template_hash(pod_template);
  if (observed.replica_set) hash = hash_after_edits(hash, pod_template, *observed.replica_set);
  mark_stale(observed.pods, hash, pod_template);
  const int64_t replicas = wanted_replicas(w, observed);

  json::array apply;
  apply.push_back(json::object{{"object", render_namespace(w, site)}, {"mode", "ensure"}});
  apply.push_back(json::object{{"object", render_replica_set(w, site, std::move(pod_template), hash,
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
  const Replacement next = replacement(observed, replicas, hash, now_ms, site);
  for (const auto& name : next.remove) remove.push_back(removal("", "v1", "pods", w.ns, name));
  return answer(std::move(apply), std::move(remove),
                status_of(w, observed, replicas, hash, next.waits, site), next.look_again_ms);
}

// The cluster's garbage collection deletes the pods with their ReplicaSet.
std::string clear(const Observed& observed, int64_t now_ms, const Site& site) {
  json::array remove;
  remove_autoscaler(observed, remove);
  const auto& rs = observed.replica_set;
  if (rs && !rs->terminating)
    remove.push_back(removal("apps", "v1", "replicasets", rs->ns, rs->name));
  return answer({}, std::move(remove), status_of_deleting(observed, now_ms, site), 0);
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
    observed = read_observed(objects->get_array(), site);
  }
  const int64_t given_ms = integer_at(*value, "/now_unix_ms").value_or(0);
  const int64_t now_ms = given_ms > 0 && given_ms < times_end_ms ? given_ms : 0;
  const auto* desired = root.if_contains("desired");
  if (desired == nullptr || desired->is_null()) return clear(observed, now_ms, site);
  if (!desired->is_object())
    return Error{Code::invalid_argument, "must be an object", "desired", {}};
  const auto workload = read_workload(desired->get_object(), site);
  if (!workload.ok()) return workload.error();
  return keep(*workload, observed, now_ms, site);
}

}  // namespace davit::deployment
