#include "reconcile.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

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

void remove_budget(const Observed& observed, json::array& out) {
  const auto& b = observed.budget;
  if (!b || b->terminating) return;
  out.push_back(removal("policy", "v1", "poddisruptionbudgets", b->ns, b->name));
}
void remove_service(const Observed& observed, json::array& out) {
  remove_if_there(observed.service, "services", out);
}

// One record, what is there of it, and what follows.
struct Work {
  const Workload& w;
  const Site& site;
  Observed& observed;
  int64_t now_ms;
  json::array apply{}, remove{};

  // A pod can be replaced in any case: where there is no surge, one may be away.
  Pace pace(int64_t surge = 0) const {
    return {now_ms, std::max<int64_t>(1, site.max_unavailable + surge),
            site.min_ready_seconds * 1000, site.replace_after_seconds * 1000};
  }
  const ObservedController* there() const { return observed.find(w.controller); }
};

// How many replicas the workload should have now. With autoscaling it is the present number, but at
// least the lower bound. While it changes to another controller, the greater number counts.
int64_t wanted_replicas(const Work& k) {
  if (!k.w.autoscaling) return k.w.replicas;
  int64_t now = 0;
  for (const auto& [controller, there] : k.observed.controllers)
    now = std::max(now, there.replicas);
  return std::max(now, k.w.autoscaling->min_replicas);
}

// What to write into spec.replicas; nullopt: the field is left out. Once an autoscaler has written
// the field, it owns it. Before that, leaving the field out would make the API server put back its
// default of 1. A value below the lower bound is always overwritten, because an autoscaler does not
// act at 0.
std::optional<int64_t> replicas_to_write(const Work& k, int64_t replicas, const Change& change) {
  const auto* there = k.there();
  if (k.w.autoscaling && there != nullptr && there->replicas_of_other && !change.others &&
      there->replicas >= k.w.autoscaling->min_replicas)
    return std::nullopt;
  return replicas;
}

// How many pods more than wanted the ReplicaSet has while it has pods of an older template. What an
// autoscaler has written stays.
int64_t surge_of(const Work& k, int64_t replicas) {
  const bool surges = k.w.controller == Controller::replica_set && k.site.replace_stale &&
                      !k.w.autoscaling && replicas > 0;
  if (!surges) return 0;
  const bool any_stale =
      std::any_of(k.observed.pods.begin(), k.observed.pods.end(), [](const Pod& pod) {
        return pod.active() && pod.stale && maker_of(pod) == Controller::replica_set;
      });
  return any_stale ? k.w.max_surge : 0;
}

// Of the ReplicaSet's own pods. A Deployment and a StatefulSet replace theirs themselves.
Replacement replacement(const Work& k, int64_t replicas, int64_t surge,
                        const std::string& wanted_hash) {
  const auto* rs = k.observed.staying(Controller::replica_set);
  if (!k.site.replace_stale || k.w.controller != Controller::replica_set || rs == nullptr)
    return {};
  // Until the new template is in the cluster and the controller acts on it, a deleted pod would
  // come back with the old template.
  if (rs->hash != wanted_hash) return {};
  if (!rs->seen) return {{}, 0, "the ReplicaSet's controller has not seen the newest template yet"};
  std::vector<Pod> own;
  std::copy_if(k.observed.pods.begin(), k.observed.pods.end(), std::back_inserter(own),
               [](const Pod& pod) { return maker_of(pod) == Controller::replica_set; });
  return replace_now(own, replicas + surge, k.pace(surge), rs->ready);
}

void add_secrets(Work& k) {
  const auto& [w, site] = std::tie(k.w, k.site);
  for (auto& step : render_pull_secrets(w, site)) k.apply.push_back(std::move(step));
  if (has_secret(w, site)) {
    const auto* owner = k.observed.staying(w.controller);
    for (auto& step : render_secret(w, site, owner != nullptr ? owner->uid : ""))
      k.apply.push_back(std::move(step));
  }
  if (count(k.observed.pods).stale.empty()) {  // pods of an older template use them
    if (!has_secret(w, site)) remove_secret(k.observed, k.remove);
    if (!has_secret(w, site) || !w.pod.service_account.empty())
      remove_account(k.observed, k.remove);
  }
}

// A ReplicaSet that another program has made is taken over before it is retired: what nobody has
// stamped is not deleted.
void take_over(Work& k) {
  const auto* rs = k.observed.staying(Controller::replica_set);
  if (k.w.controller == Controller::replica_set || rs == nullptr || rs->stamped) return;
  Workload of_before = k.w;
  of_before.controller = Controller::replica_set;
  json::object pod_template = render_template(of_before, k.site);
  const std::string hash = hash_after_edits(template_hash(pod_template), pod_template, *rs);
  k.apply.push_back(apply_step(
      render_controller(of_before, k.site, std::move(pod_template), hash, rs->replicas)));
}

void add_autoscaler(Work& k, size_t owner, const Change& change) {
  if (!k.w.autoscaling) return remove_autoscaler(k.observed, k.remove);
  // The controller that carries the load.
  Controller scales = k.w.controller;
  for (const auto& [controller, there] : k.observed.controllers) {
    if (controller != k.w.controller && !change.retire && !there.terminating) scales = controller;
  }
  json::object autoscaler = apply_step(render_autoscaler(k.w, k.site, scales));
  autoscaler["owner"] = owner;
  autoscaler["controller"] = true;
  k.apply.push_back(std::move(autoscaler));
}

void add_service(Work& k, size_t owner) {
  if (k.w.controller == Controller::stateful_set) {
    json::object service = apply_step(render_service(k.w, k.site));
    service["owner"] = owner;
    k.apply.push_back(std::move(service));
  } else if (k.observed.staying(Controller::stateful_set) == nullptr &&
             orphaned_pods(k.observed).empty()) {
    remove_service(k.observed, k.remove);
  }
}

void add_budget(Work& k, size_t owner) {
  if (k.w.disruption_budget.empty()) return remove_budget(k.observed, k.remove);
  json::object budget = apply_step(render_budget(k.w, k.site));
  budget["owner"] = owner;
  k.apply.push_back(std::move(budget));
}

// What people are told when the controller has to be made anew.
std::string made_anew(const Work& k, const json::object& rendered) {
  const auto* there = k.observed.staying(k.w.controller);
  if (there == nullptr) return {};
  const std::string fields = cannot_change(rendered.at("spec").as_object(), there->spec);
  if (fields.empty()) return {};
  return std::string("the ") + spoken(k.w.controller) +
         " is made anew, because this of it cannot " + "change: " + fields;
}

int64_t sooner(int64_t a, int64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

std::string keep(Work k) {
  json::object pod_template = render_template(k.w, k.site);
  std::string hash = template_hash(pod_template);
  // The other controllers replace the pods of an edited template themselves.
  const auto* there = k.there();
  if (there != nullptr && k.w.controller == Controller::replica_set)
    hash = hash_after_edits(hash, pod_template, *there);
  mark_stale(k.observed.pods, hash, pod_template);
  const int64_t replicas = wanted_replicas(k);
  const Change change = change_to(k.w.controller, k.observed, replicas, k.pace());
  k.apply.push_back(ensure_namespace(k.w.ns, k.site.labels));
  add_secrets(k);
  take_over(k);
  const int64_t surge = surge_of(k, replicas);
  json::object rendered = render_controller(k.w, k.site, std::move(pod_template), hash,
                                            replicas_to_write(k, replicas + surge, change));
  std::string said = made_anew(k, rendered);
  json::object controller = apply_step(std::move(rendered));
  controller["replace_on_immutable"] = true;
  const size_t owner = k.apply.size();
  k.apply.push_back(std::move(controller));
  add_service(k, owner);
  add_autoscaler(k, owner, change);
  add_budget(k, owner);
  const Replacement next = replacement(k, replicas, surge, hash);
  for (const auto& name : next.remove) k.remove.push_back(removal("", "v1", "pods", k.w.ns, name));
  if (change.retire) remove_others(k.w.controller, k.observed, k.remove);
  add_reason(said, change.waits);
  return answer(std::move(k.apply), std::move(k.remove),
                status_of(k.w, k.observed, replicas, hash, {next.waits, said}, k.site),
                sooner(next.look_again_ms, change.look_again_ms));
}

// The cluster's garbage collection deletes the pods with their controller.
std::string clear(const Observed& observed, int64_t now_ms, const Site& site) {
  json::array remove;
  remove_autoscaler(observed, remove);
  remove_others(std::nullopt, observed, remove);
  remove_service(observed, remove);
  remove_budget(observed, remove);
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
  return keep({*workload, site, observed, now_ms});
}

}  // namespace davit::deployment
