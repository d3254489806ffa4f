#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "edited.hpp"
#include "kubernetes/fields.hpp"
#include "kubernetes/plan.hpp"
#include "made_of.hpp"
#include "observed.hpp"
#include "render.hpp"
#include "rollout.hpp"
#include "status.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr int64_t times_end_ms = 253'402'300'800'000;  // the end of the year 9999

void remove_autoscaler(const Observed& observed, json::array& out) {
  const auto& a = observed.autoscaler;
  if (!a || a->terminating) return;
  out.push_back(removal("autoscaling", "v2", "horizontalpodautoscalers", a->ns, a->name));
}

void remove_if_there(const std::optional<Present>& object, const char* resource, json::array& out) {
  if (!object || object->terminating) return;
  out.push_back(removal("", "v1", resource, object->ns, object->name));
}

void remove_secret(const Observed& observed, json::array& out) {
  remove_if_there(observed.secret, "secrets", out);
}
void remove_account(const Observed& observed, json::array& out) {
  remove_if_there(observed.account, "serviceaccounts", out);
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
  apply.push_back(ensure_namespace(w.ns, site.labels));
  json::array remove;
  for (auto& step : render_pull_secrets(w, site)) apply.push_back(std::move(step));
  if (has_secret(w, site)) {
    const auto& rs = observed.replica_set;
    const bool stays = rs && !rs->terminating;
    for (auto& step : render_secret(w, site, stays ? rs->uid : ""))
      apply.push_back(std::move(step));
  }
  if (count(observed.pods).stale.empty()) {  // pods of an older template use them
    if (!has_secret(w, site)) remove_secret(observed, remove);
    if (!has_secret(w, site) || !w.pod.service_account.empty()) remove_account(observed, remove);
  }
  json::object replica_set = apply_step(
      render_replica_set(w, site, std::move(pod_template), hash, replicas_to_write(w, observed)));
  replica_set["replace_on_immutable"] = true;
  const size_t owner = apply.size();
  apply.push_back(std::move(replica_set));
  if (w.autoscaling) {
    json::object autoscaler = apply_step(render_autoscaler(w, site));
    autoscaler["owner"] = owner;
    autoscaler["controller"] = true;
    apply.push_back(std::move(autoscaler));
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
  remove_secret(observed, remove);
  remove_account(observed, remove);
  return answer({}, std::move(remove), status_of_deleting(observed, now_ms, site));
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto in = read_input(input);
  if (!in.ok()) return in.error();
  Observed observed = read_observed(in->observed(), site);
  const int64_t given_ms = integer_at(in->root, "/now_unix_ms").value_or(0);
  const int64_t now_ms = given_ms > 0 && given_ms < times_end_ms ? given_ms : 0;
  if (in->desired() == nullptr) return clear(observed, now_ms, site);
  const auto workload = read_workload(*in->desired(), site);
  if (!workload.ok()) return workload.error();
  return keep(*workload, observed, now_ms, site);
}

}  // namespace davit::deployment
