#include "policy.hpp"

#include <boost/json.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/message.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/plan.hpp"

namespace davit::cilium {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr const char* api_version = "cilium.io/v2";
constexpr const char* policy_kind = "CiliumNetworkPolicy";

Error wrong(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}

// The policy, or NULL when there is nothing in it. The codec shows bytes that are no JSON
// under raw_bytes_key.
const json::object* policy_of(const json::object& apply) {
  const auto* policy = apply.if_contains("policy");
  const auto* object = policy == nullptr ? nullptr : policy->if_object();
  return object == nullptr || object->empty() || object->contains(raw_bytes_key) ? nullptr : object;
}

Result<Named> named_in(const json::object& apply) {
  std::optional<Error> fault;
  const Fields f(apply, fault);
  Named named{f.needed("cilium_network_policy_id"), f.needed("k8s_namespace"),
              f.needed("k8s_name")};
  if (fault) return *fault;
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
Result<Named> check(const json::object& apply) {
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

// The policy as it was given, with our name and labels, and without the status, which is not ours
// to write.
json::object render(const json::object& apply, const Named& named, const Site& site) {
  json::object object = *policy_of(apply);
  object.erase("status");
  object["apiVersion"] = api_version;
  object["kind"] = policy_kind;
  json::object own;
  site.labels.add_managed(own, component_policy);
  own[site.labels.id("networkpolicy.id")] = named.id;
  json::object metadata{{"name", named.name}, {"namespace", named.ns}, {"labels", std::move(own)}};
  const auto* given = apply.at("policy").get_object().if_contains("metadata");
  const auto* annotations = given == nullptr ? nullptr : object_at(*given, "/annotations");
  if (annotations != nullptr) metadata["annotations"] = *annotations;
  object["metadata"] = std::move(metadata);
  return object;
}

bool is_policy(const json::value& object) {
  return text_at(object, "/kind") == policy_kind && !text_at(object, "/metadata/name").empty() &&
         !text_at(object, "/metadata/namespace").empty();
}

// What the cluster has of one record.
struct There {
  bool any = false;
  std::string fault;  // why Cilium ignores the policy; empty: it does not, or has not said
};

json::object status_of(const There& there) {
  const int updated = there.any ? 1 : 0;
  const int up = there.fault.empty() ? updated : 0;
  return {{"gone", false},
          {"health", up != 0        ? "healthy"
                     : updated != 0 ? "unhealthy"
                                    : "progressing"},
          {"desired", 1},
          {"updated", updated},
          {"ready", up},
          {"stale", 0},
          {"message", there.fault},
          {"detail", json::object{}},
          {"children", json::array{}}};
}

}  // namespace

Result<Named> identify(std::string_view apply) {
  const auto message = parse_object(apply, "the policy");
  if (!message.ok()) return message.error();
  return named_in(message->get_object());
}

Result<> validate(std::string_view apply) {
  const auto message = parse_object(apply, "the policy");
  if (!message.ok()) return message.error();
  if (auto named = check(message->get_object()); !named.ok()) return named.error();
  return {};
}

Result<std::string> apply_message(std::string_view apply) {
  auto message = parse_object(apply, "the policy");
  if (!message.ok()) return message.error();
  if (auto named = check(message->get_object()); !named.ok()) return named.error();
  const json::object& given = *policy_of(message->get_object());
  if (given.contains("apiVersion") && given.contains("kind")) return std::string();
  json::object policy{{"apiVersion", api_version}, {"kind", policy_kind}};
  policy.insert(given.begin(), given.end());
  message->get_object()["policy"] = std::move(policy);
  return json::serialize(*message);
}

bool has_policy(std::string_view apply) {
  const auto message = parse_object(apply, "the policy");
  return message.ok() && policy_of(message->get_object()) != nullptr;
}

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto in = read_input(input);
  if (!in.ok()) return in.error();
  json::array remove;
  There there;
  for (const auto& object : in->observed()) {
    if (!is_policy(object)) continue;
    there.any = true;
    there.fault = fault_of_policy(object);
    if (!is_terminating(object))
      remove.push_back(removal("cilium.io", "v2", "ciliumnetworkpolicies",
                               text_at(object, "/metadata/namespace"),
                               text_at(object, "/metadata/name")));
  }
  if (in->desired() == nullptr) return answer({}, std::move(remove), status_of_deleted(!there.any));
  const auto named = check(*in->desired());
  if (!named.ok()) return named.error();
  json::array apply;
  apply.push_back(ensure_namespace(named->ns, site.labels));
  apply.push_back(apply_step(render(*in->desired(), *named, site)));
  return answer(std::move(apply), {}, status_of(there));
}

Result<Named> attribute(std::string_view object, const Site& site) {
  const auto value = parse_object(object, "the object");
  if (!value.ok()) return value.error();
  if (is_policy(*value) && label(*value, labels::managed_by) == site.labels.managed_by &&
      label(*value, labels::component) == component_policy)
    return Named{std::string(label(*value, site.labels.id("networkpolicy.id"))),
                 std::string(text_at(*value, "/metadata/namespace")),
                 std::string(text_at(*value, "/metadata/name"))};
  return Error{Code::not_found, "no policy of ours"};
}

std::string delete_message(const Named& n) {
  return json::serialize(json::object{{"delete", {{"k8s_namespace", n.ns}, {"k8s_name", n.name}}}});
}

}  // namespace davit::cilium
