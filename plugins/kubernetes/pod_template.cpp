#include "pod_template.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/kubernetes/quantity.hpp>
#include <davit/short_hash.hpp>

#include "labels.hpp"

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

json::array references(const std::vector<std::string>& names) {
  json::array out;
  for (const auto& name : names) out.push_back(json::object{{"name", name}});
  return out;
}

json::object quantities(const Size& size) {
  return {{"cpu", cpu_quantity(size.cpu_millicores)}, {"memory", memory_quantity(size.memory_mib)}};
}

json::array render_tolerations(const std::vector<Toleration>& tolerations) {
  json::array out;
  for (const auto& t : tolerations) {
    json::object one;
    auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) one[name] = value;
    };
    add("key", t.key);
    add("operator", t.op);
    add("value", t.value);
    add("effect", t.effect);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Placement read_placement(const Settings& s, Placement fallback) {
  Placement out = std::move(fallback);
  out.runtime_class = s.string("runtime_class", out.runtime_class);
  out.tolerations = read_tolerations(s, "tolerations", std::move(out.tolerations));
  out.image_pull_secrets = s.strings("image_pull_secrets");
  if (!out.runtime_class.empty()) {
    if (auto fault = dns_subdomain_fault(out.runtime_class)) s.reject("runtime_class", *fault);
  }
  for (const auto& name : out.image_pull_secrets) {
    if (auto fault = dns_subdomain_fault(name)) s.reject("image_pull_secrets", *fault);
  }
  return out;
}

void add_needs(const Placement& placement, std::vector<kind::Need>& to) {
  const auto& name = placement.runtime_class;
  if (name.empty()) return;
  to.push_back({"node.k8s.io", "v1", "runtimeclasses", name, {}, "runtime_class = \"\""});
}

json::object begin_pod_spec(const Placement& placement) {
  json::object spec;
  if (!placement.runtime_class.empty()) spec["runtimeClassName"] = placement.runtime_class;
  spec["restartPolicy"] = "Always";
  return spec;
}

void add_placement(json::object& spec, const Placement& placement, const std::string& key,
                   const std::string& value) {
  if (!placement.image_pull_secrets.empty())
    spec["imagePullSecrets"] = references(placement.image_pull_secrets);
  if (!placement.tolerations.empty())
    spec["tolerations"] = render_tolerations(placement.tolerations);
  spec["topologySpreadConstraints"].emplace_array().push_back(
      json::object{{"maxSkew", 1},
                   {"topologyKey", labels::zone},
                   {"whenUnsatisfiable", "ScheduleAnyway"},
                   {"labelSelector", {{"matchLabels", {{key, value}}}}}});
}

json::object resources(const Size& limits, const Size& requests) {
  return {{"limits", quantities(limits)}, {"requests", quantities(requests)}};
}

std::string template_hash(const json::object& pod_template) {
  return short_hash(json::serialize(pod_template));
}

}  // namespace davit::kubernetes
