#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "fields.hpp"
#include "observed.hpp"
#include "render.hpp"

namespace davit::sentinel {
namespace json = boost::json;
namespace {

constexpr const char* paused_text =
    "deployment: paused by somebody, so no change reaches its pods (kubectl rollout resume)";

json::object removal(const Owned& o) {
  return {{"group", o.group},
          {"version", o.version},
          {"resource", o.resource},
          {"namespace", o.ns},
          {"name", o.name}};
}

// The worst known trouble, for people.
std::string trouble_of(const Observed& observed, bool& failing) {
  std::string out;
  if (observed.deployment && !observed.deployment->trouble.empty()) {
    out = "deployment: " + observed.deployment->trouble;
    failing = true;
  } else if (observed.deployment && observed.deployment->paused) {
    out = paused_text;
    failing = true;
  }
  const Pod* worst = nullptr;
  for (const auto& pod : observed.pods) {
    if (pod.trouble.empty() || !pod.active()) continue;
    if (worst == nullptr || (pod.failing && !worst->failing)) worst = &pod;
  }
  if (worst == nullptr) return out;
  failing = failing || worst->failing;
  return out + (out.empty() ? "pod " : "; pod ") + worst->name + ": " + worst->trouble;
}

json::array children_of(const Observed& observed, const Site& site) {
  json::array out;
  for (const auto& pod : observed.pods) {
    if (!pod.active() || pod.ip.empty()) continue;
    const bool v6 = pod.ip.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + pod.ip + "]" : pod.ip;
    out.push_back(json::object{{"name", pod.name},
                               {"address", host + ":" + std::to_string(site.port)},
                               {"status", pod.status},
                               {"cpu_millicores", pod.cpu_millicores},
                               {"memory_mib", pod.memory_mib}});
  }
  return out;
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
    bool failing = false;
    const std::string trouble = trouble_of(observed, failing);
    if (!trouble.empty()) message = trouble;
    health = failing && live.available < s.replicas ? "unhealthy" : "progressing";
  } else if (!message.empty()) {
    health = "progressing";
  } else if (live.paused) {
    message = paused_text;
  }
  if (!observed.policy_fault.empty()) {
    message += (message.empty() ? "" : "; ") + observed.policy_fault;
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
          {"children", children_of(observed, site)}};
}

std::string answer(json::array apply, json::array remove, json::object status) {
  return json::serialize(json::object{{"apply", std::move(apply)},
                                      {"delete", std::move(remove)},
                                      {"status", std::move(status)},
                                      {"look_again_ms", 0}});
}

std::string keep(const Sentinel& s, const Place& place, const Observed& observed,
                 const Site& site) {
  json::object pod_template = render_template(s, place, site);
  const std::string hash = template_hash(pod_template);
  json::array apply = render(s, place, site, std::move(pod_template));
  json::array remove;  // objects that an earlier version rendered
  for (const auto& o : observed.owned) {
    if (!o.terminating && !planned(apply, o)) remove.push_back(removal(o));
  }
  json::object status = status_of(s, observed, hash, apply, site);
  return answer(std::move(apply), std::move(remove), std::move(status));
}

// The cluster's garbage collection deletes the pods with their Deployment.
std::string clear(const Observed& observed, const Site& site) {
  json::array remove;
  for (const auto& o : observed.owned) {
    if (!o.terminating) remove.push_back(removal(o));
  }
  const Deployment live = observed.deployment.value_or(Deployment{});
  const bool gone = observed.nothing();
  json::object status{{"gone", gone},
                      {"health", gone ? "unknown" : "progressing"},
                      {"desired", 0},
                      {"updated", 0},
                      {"ready", live.available},
                      {"stale", live.replicas},
                      {"message", gone ? "" : "being deleted"},
                      {"detail", json::object{}},
                      {"children", children_of(observed, site)}};
  return answer({}, std::move(remove), std::move(status));
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto value = parse_object(input, "the input of reconcile");
  if (!value.ok()) return value.error();
  const auto& root = value->get_object();
  Observed observed;
  if (const auto* objects = root.if_contains("observed")) {
    if (!objects->is_array())
      return Error{Code::invalid_argument, "must be a list", "observed", {}};
    observed = read_observed(objects->get_array(), site);
  }
  const auto* desired = root.if_contains("desired");
  if (desired == nullptr || desired->is_null()) return clear(observed, site);
  if (!desired->is_object())
    return Error{Code::invalid_argument, "must be an object", "desired", {}};
  const auto sentinel = read_sentinel(desired->get_object());
  if (!sentinel.ok()) return sentinel.error();
  // The record's namespace counts, not the setting: whoever turned the message into a record has
  // decided it.
  Place place{std::string(text_at(*value, "/record/region")),
              std::string(text_at(*value, "/record/namespace"))};
  if (place.ns.empty()) place.ns = site.ns;
  return keep(*sentinel, place, observed, site);
}

}  // namespace davit::sentinel
