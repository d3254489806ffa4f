#include "objects.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/utf8.hpp>

#include "fields.hpp"

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

constexpr size_t saying_max = 300;  // a scheduler's message lists every node

// The first owner that controls the object and fits. NULL: none does.
template <class Fits>
const json::value* controller_of(const json::value& object, Fits fits) {
  const auto* owners = array_at(object, "/metadata/ownerReferences");
  if (owners == nullptr) return nullptr;
  const auto found = std::find_if(owners->begin(), owners->end(), [&](const json::value& owner) {
    const auto* controls = value_in(owner.if_object(), "controller");
    return controls != nullptr && *controls == true && fits(owner);
  });
  return found == owners->end() ? nullptr : &*found;
}

}  // namespace

std::string_view group_of(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == api_version.npos ? std::string_view{} : api_version.substr(0, slash);
}

bool is(const json::value& object, std::string_view group, std::string_view kind) {
  return group_of(text_at(object, "/apiVersion")) == group && text_at(object, "/kind") == kind;
}

std::string_view label(const json::value& object, std::string_view name) {
  return text_in(object_at(object, "/metadata/labels"), name);
}

bool is_terminating(const json::value& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

bool is_controlled(const json::value& object) {
  return controller_of(object, [](const json::value&) { return true; }) != nullptr;
}

std::string_view controlling(const json::value& object, std::string_view kind) {
  const auto* controller =
      controller_of(object, [&](const json::value& owner) { return is(owner, "apps", kind); });
  return controller == nullptr ? std::string_view() : text_at(*controller, "/name");
}

// The ReplicaSet's name is the Deployment's name, "-" and a hash that the pod carries as a label.
std::string_view deployment_of(const json::value& pod) {
  const auto hash = label(pod, "pod-template-hash");
  const auto name = controlling_replica_set(pod);
  if (hash.empty() || !name.ends_with(hash) || name.size() < hash.size() + 2) return {};
  const auto rest = name.substr(0, name.size() - hash.size());
  return rest.ends_with('-') ? rest.substr(0, rest.size() - 1) : std::string_view();
}

std::string_view stateful_set_of(const json::value& pod) {
  const auto name = text_at(pod, "/metadata/name");
  if (label(pod, "statefulset.kubernetes.io/pod-name") != name) return {};
  return name.substr(0, std::min(name.rfind('-'), name.size()));
}

bool is_seen(const json::value& object) {
  return integer_at(object, "/status/observedGeneration").value_or(0) >=
         integer_at(object, "/metadata/generation").value_or(0);
}

const json::object* condition(const json::value& object, std::string_view type) {
  const auto* all = array_at(object, "/status/conditions");
  if (all == nullptr) return nullptr;
  for (const auto& c : *all) {
    if (const auto* o = c.if_object(); text_in(o, "type") == type) return o;
  }
  return nullptr;
}

bool says(const json::value& object, std::string_view type, std::string_view status) {
  return text_in(condition(object, type), "status") == status;
}

std::string saying(const json::value& object, std::string_view type) {
  const auto* c = condition(object, type);
  std::string out(text_in(c, "reason"));
  const auto message = text_in(c, "message");
  if (!message.empty()) out.append(out.empty() ? "" : ": ").append(message);
  return shortened(out, saying_max);
}

bool is_data_key(std::string_view key) {
  constexpr std::string_view others = "-._";
  constexpr size_t bytes_max = 253;
  return !key.empty() && key.size() <= bytes_max && key != "." && key != ".." &&
         std::all_of(key.begin(), key.end(), [&](char c) {
           return names::lower(c) || names::upper(c) || names::digit(c) ||
                  others.find(c) != others.npos;
         });
}

std::string fault_of_policy(const json::value& policy) {
  if (!says(policy, "Valid", "False")) return {};
  const std::string why = saying(policy, "Valid");
  return "not valid" + (why.empty() ? "" : ": " + why);
}

}  // namespace davit::kubernetes
