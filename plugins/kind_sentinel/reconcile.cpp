#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/plan.hpp"
#include "observed.hpp"
#include "render.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr const char* paused_text =
    "deployment: paused by somebody, so no change reaches its pods (kubectl rollout resume)";

json::object removal_of(const Owned& o) {
  return removal(o.group, o.version, o.resource, o.ns, o.name);
}

// The worst known trouble.
Trouble trouble_of(const Observed& observed) {
  Trouble out;
  if (observed.deployment && !observed.deployment->trouble.empty()) {
    out = {"deployment: " + observed.deployment->trouble, true};
  } else if (observed.deployment && observed.deployment->paused) {
    out = {paused_text, true};
  }
  add_worst_pod(out, observed.pods);
  return out;
}

json::array children(const Observed& observed, const Site& site) {
  return children_of(observed.pods, [&](const Pod& pod) { return address_by_ip(pod, site.port); });
}

bool planned(const json::array& plan, const Owned& o) {
  for (const auto& step : plan) {
    if (text_at(step, "/object/kind") == o.kind && text_at(step, "/object/metadata/name") == o.name)
      return true;
  }
  return false;
}

// The first planned object that the cluster does not show yet. Without its Service, for instance,
// nobody reaches a sentinel.
std::string missing(const json::array& plan, const Observed& observed) {
  for (const auto& step : plan) {
    if (text_at(step, "/mode") != "apply") continue;
    const auto kind = text_at(step, "/object/kind");
    const auto name = text_at(step, "/object/metadata/name");
    if (!observed.has(kind, name))
      return "not there yet: " + std::string(kind) + " " + std::string(name);
  }
  return {};
}

json::object status_of(const Sentinel& s, const Observed& observed, const std::string& hash,
                       const json::array& plan, const Site& site) {
  const Deployment live = observed.deployment.value_or(Deployment{});
  // Counts of an older spec or template say nothing about this one.
  const int64_t updated = live.seen && live.hash == hash ? live.updated : 0;
  const int64_t stale = std::max<int64_t>(0, live.replicas - updated);
  std::string health = "healthy";
  std::string message = missing(plan, observed);
  const bool all = updated == s.replicas && live.available >= s.replicas && stale == 0;
  if (s.replicas == 0) {
    health = "paused";
  } else if (!all) {
    const Trouble trouble = trouble_of(observed);
    if (!trouble.text.empty()) message = trouble.text;
    health = trouble.failing && live.available < s.replicas ? "unhealthy" : "progressing";
  } else if (!message.empty()) {
    health = "progressing";
  } else if (live.paused) {
    message = paused_text;
  }
  if (!observed.policy_fault.empty()) {
    add_reason(message, "gossip policy: " + observed.policy_fault);
    if (health == "healthy") health = "unhealthy";
  }
  return {{"gone", false},
          {"health", health},
          {"desired", s.replicas},
          {"updated", updated},
          {"ready", live.available},
          {"stale", stale},
          {"message", message},
          {"detail", {{"template_hash", hash}}},
          {"children", children(observed, site)}};
}

std::string keep(const Sentinel& s, const Place& place, const Observed& observed,
                 const Site& site) {
  json::object pod_template = render_template(s, place, site);
  const std::string hash = template_hash(pod_template);
  json::array apply = render(s, place, site, std::move(pod_template));
  json::array remove;  // objects that an earlier version rendered
  for (const auto& o : observed.owned) {
    if (!o.terminating && !planned(apply, o)) remove.push_back(removal_of(o));
  }
  json::object status = status_of(s, observed, hash, apply, site);
  return answer(std::move(apply), std::move(remove), std::move(status));
}

// The cluster's garbage collection deletes the pods with their Deployment.
std::string clear(const Observed& observed, const Site& site) {
  json::array remove;
  for (const auto& o : observed.owned) {
    if (!o.terminating) remove.push_back(removal_of(o));
  }
  const Deployment live = observed.deployment.value_or(Deployment{});
  return answer({}, std::move(remove),
                status_of_deleted(observed.nothing(), live.available, live.replicas,
                                  children(observed, site)));
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto in = read_input(input);
  if (!in.ok()) return in.error();
  const Observed observed = read_observed(in->observed(), site);
  if (in->desired() == nullptr) return clear(observed, site);
  const auto sentinel = read_sentinel(*in->desired());
  if (!sentinel.ok()) return sentinel.error();
  // The record's namespace counts, not the setting: whoever turned the message into a record has
  // decided it.
  Place place{std::string(text_at(in->root, "/record/region")),
              std::string(text_at(in->root, "/record/namespace"))};
  if (place.ns.empty()) place.ns = site.ns;
  return keep(*sentinel, place, observed, site);
}

}  // namespace davit::sentinel
