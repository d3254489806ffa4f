#include "policy.hpp"

#include <boost/json.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/utf8.hpp>

namespace davit::cilium {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr const char* managed_by = "app.kubernetes.io/managed-by";
constexpr const char* component = "app.kubernetes.io/component";
constexpr const char* component_policy = "ciliumnetworkpolicy";
constexpr const char* api_version = "cilium.io/v2";
constexpr const char* policy_kind = "CiliumNetworkPolicy";
constexpr size_t fault_max = 300;  // of Cilium's message

Error wrong(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where), {}};
}

Result<json::value> parse(std::string_view text, std::string_view what) {
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return wrong("", std::string(what) + " is not JSON: " + error.message());
  if (!value.is_object()) return wrong("", std::string(what) + " is not a JSON object");
  return value;
}

std::string text_of(const json::value* v) {
  const auto* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string() : std::string(s->data(), s->size());
}

std::string text_at(const json::value& from, const std::string& pointer) {
  json::error_code none;
  return text_of(from.find_pointer(pointer, none));
}

// The policy, or NULL when there is nothing in it. The codec shows bytes that are no JSON as
// {"$base64": ...}.
const json::object* policy_of(const json::value& apply) {
  const auto* policy = apply.get_object().if_contains("policy");
  const auto* object = policy == nullptr ? nullptr : policy->if_object();
  return object == nullptr || object->empty() || object->contains("$base64") ? nullptr : object;
}

Result<Named> named_in(const json::value& apply) {
  Named named{text_at(apply, "/cilium_network_policy_id"), text_at(apply, "/k8s_namespace"),
              text_at(apply, "/k8s_name")};
  if (named.id.empty()) return wrong("cilium_network_policy_id", "is missing");
  if (named.ns.empty()) return wrong("k8s_namespace", "is missing");
  if (named.name.empty()) return wrong("k8s_name", "is missing");
  return named;
}

Result<> check_names(const Named& n) {
  if (auto fault = label_value_fault(n.id)) return wrong("cilium_network_policy_id", *fault);
  if (auto fault = dns_label_fault(n.ns)) return wrong("k8s_namespace", *fault);
  if (auto fault = dns_subdomain_fault(n.name)) return wrong("k8s_name", *fault);
  return {};
}

// The policy's apiVersion and kind must be the only possible ones. A policy may leave them out.
Result<> check_type(const json::object& policy) {
  for (const auto& [key, word] : {std::pair{"apiVersion", api_version}, {"kind", policy_kind}}) {
    const auto* said = policy.if_contains(key);
    if (said != nullptr && *said != word)
      return wrong(std::string("policy.") + key, std::string("must be ") + word);
  }
  return {};
}

// Checks the names as Kubernetes wants them, and the parts that every policy must have. The rest is
// left to Cilium.
Result<Named> check(const json::value& apply) {
  auto named = named_in(apply);
  if (!named.ok()) return named;
  if (auto names = check_names(*named); !names.ok()) return names.error();
  const auto* policy = policy_of(apply);
  if (policy == nullptr)
    return wrong("policy", "must be a CiliumNetworkPolicy as JSON, and not empty");
  if (auto type = check_type(*policy); !type.ok()) return type.error();
  const auto* spec = policy->if_contains("spec");
  const auto* specs = policy->if_contains("specs");
  if (spec == nullptr && specs == nullptr) return wrong("policy", "must have a spec or specs");
  if (spec != nullptr && !spec->is_object()) return wrong("policy.spec", "must be an object");
  if (specs != nullptr && !specs->is_array()) return wrong("policy.specs", "must be a list");
  return named;
}

json::object labels(const Site& site, const char* of) {
  return {{managed_by, site.managed_by}, {component, of}};
}

// The policy as it was given, with our name and labels, and without the status, which is not ours
// to write.
json::object render(const json::value& apply, const Named& named, const Site& site) {
  json::object object = *policy_of(apply);
  object.erase("status");
  object["apiVersion"] = api_version;
  object["kind"] = policy_kind;
  json::object own = labels(site, component_policy);
  own[site.label_prefix + "networkpolicy.id"] = named.id;
  json::object metadata{{"name", named.name}, {"namespace", named.ns}, {"labels", std::move(own)}};
  json::error_code none;
  const auto* annotations = apply.find_pointer("/policy/metadata/annotations", none);
  if (annotations != nullptr && annotations->is_object()) metadata["annotations"] = *annotations;
  object["metadata"] = std::move(metadata);
  return object;
}

bool is_policy(const json::value& object) {
  return text_at(object, "/kind") == policy_kind && !text_at(object, "/metadata/name").empty() &&
         !text_at(object, "/metadata/namespace").empty();
}

json::object removal(const json::value& observed) {
  return {{"group", "cilium.io"},
          {"version", "v2"},
          {"resource", "ciliumnetworkpolicies"},
          {"namespace", text_at(observed, "/metadata/namespace")},
          {"name", text_at(observed, "/metadata/name")}};
}

// What the cluster has of one record.
struct There {
  bool any = false;
  std::string fault;  // why Cilium ignores the policy; empty: it does not, or has not said
};

// Cilium checks more than the schema of its CRD can, and reports the result in a condition.
std::string fault_of(const json::value& policy) {
  json::error_code none;
  const auto* found = policy.find_pointer("/status/conditions", none);
  const auto* conditions = found == nullptr ? nullptr : found->if_array();
  if (conditions == nullptr) return {};
  for (const auto& c : *conditions) {
    if (text_at(c, "/type") != "Valid" || text_at(c, "/status") != "False") continue;
    std::string why = text_at(c, "/message");
    if (why.empty()) why = text_at(c, "/reason");
    return "not valid" + (why.empty() ? "" : ": " + shortened(why, fault_max));
  }
  return {};
}

std::string answer(json::array apply, json::array remove, const There& there) {
  const bool wanted = !apply.empty();
  const int updated = wanted && there.any ? 1 : 0;
  const int up = there.fault.empty() ? updated : 0;
  const char* health = up != 0               ? "healthy"
                       : updated != 0        ? "unhealthy"
                       : wanted || there.any ? "progressing"
                                             : "unknown";
  json::object status{{"gone", !wanted && !there.any},
                      {"health", health},
                      {"desired", wanted ? 1 : 0},
                      {"updated", updated},
                      {"ready", up},
                      {"stale", 0},
                      {"message", wanted      ? there.fault
                                  : there.any ? "being deleted"
                                              : ""}};
  status["detail"].emplace_object();
  status["children"].emplace_array();
  return json::serialize(json::object{{"apply", std::move(apply)},
                                      {"delete", std::move(remove)},
                                      {"status", std::move(status)},
                                      {"look_again_ms", 0}});
}

}  // namespace

Result<Named> identify(std::string_view apply) {
  const auto message = parse(apply, "the policy");
  if (!message.ok()) return message.error();
  return named_in(*message);
}

Result<> validate(std::string_view apply) {
  const auto message = parse(apply, "the policy");
  if (!message.ok()) return message.error();
  if (auto named = check(*message); !named.ok()) return named.error();
  return {};
}

Result<std::string> apply_message(std::string_view apply) {
  auto message = parse(apply, "the policy");
  if (!message.ok()) return message.error();
  if (auto named = check(*message); !named.ok()) return named.error();
  const json::object& given = *policy_of(*message);
  if (given.contains("apiVersion") && given.contains("kind")) return std::string();
  json::object policy{{"apiVersion", api_version}, {"kind", policy_kind}};
  policy.insert(given.begin(), given.end());
  message->get_object()["policy"] = std::move(policy);
  return json::serialize(*message);
}

bool has_policy(std::string_view apply) {
  const auto message = parse(apply, "the policy");
  return message.ok() && policy_of(*message) != nullptr;
}

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto root = parse(input, "the input of reconcile");
  if (!root.ok()) return root.error();
  json::array remove;
  There there;
  if (const auto* observed = root->get_object().if_contains("observed")) {
    if (!observed->is_array()) return wrong("observed", "must be a list");
    for (const auto& object : observed->get_array()) {
      if (!is_policy(object)) continue;
      there.any = true;
      there.fault = fault_of(object);
      if (text_at(object, "/metadata/deletionTimestamp").empty()) remove.push_back(removal(object));
    }
  }
  const auto* desired = root->get_object().if_contains("desired");
  if (desired != nullptr && !desired->is_null()) {
    if (!desired->is_object()) return wrong("desired", "must be an object");
    const auto named = check(*desired);
    if (!named.ok()) return named.error();
    json::object ns{{"apiVersion", "v1"}, {"kind", "Namespace"}};
    ns["metadata"] = {{"name", named->ns}, {"labels", labels(site, "namespace")}};
    json::array apply;
    apply.push_back(json::object{{"object", std::move(ns)}, {"mode", "ensure"}});
    apply.push_back(json::object{{"object", render(*desired, *named, site)}, {"mode", "apply"}});
    return answer(std::move(apply), {}, there);
  }
  return answer({}, std::move(remove), there);
}

Result<Named> attribute(std::string_view object, const Site& site) {
  const auto value = parse(object, "the object");
  if (!value.ok()) return value.error();
  json::error_code none;
  const auto* all = value->find_pointer("/metadata/labels", none);
  auto label = [&](const std::string& key) {
    return text_of(all == nullptr || !all->is_object() ? nullptr
                                                       : all->get_object().if_contains(key));
  };
  Named named{label(site.label_prefix + "networkpolicy.id"), text_at(*value, "/metadata/namespace"),
              text_at(*value, "/metadata/name")};
  if (is_policy(*value) && label(managed_by) == site.managed_by &&
      label(component) == component_policy)
    return named;
  return Error{Code::not_found, "no policy of ours", {}, {}};
}

std::string delete_message(const Named& n) {
  return json::serialize(json::object{{"delete", {{"k8s_namespace", n.ns}, {"k8s_name", n.name}}}});
}

}  // namespace davit::cilium
