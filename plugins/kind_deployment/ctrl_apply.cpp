#include "ctrl_apply.hpp"

#include <array>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/fields.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr const char* secrets_field = "encrypted_environment_variables";

Error unsayable(std::string where, std::string why) {
  return {Code::invalid_argument, std::move(why), std::move(where)};
}

bool absent(const json::object& message, std::string_view key) {
  const auto* v = message.if_contains({key.data(), key.size()});
  return v == nullptr || v->is_null();
}

// Krane's agent reads the blob, so it must be a SecretsConfig.
std::optional<Error> secrets_fault(const json::object& message, const Workload& w) {
  if (w.encrypted_env.empty()) return std::nullopt;
  const auto* blob = message.at(secrets_field).if_object();
  if (blob == nullptr || !blob->contains("secrets"))
    return unsayable(secrets_field, "must be JSON, {\"secrets\": {name: ciphertext}}, on ctrl.v1");
  if (auto fault = dns_subdomain_fault(secret_name(w.deployment_id)))
    return unsayable("deployment_id", "names a Secret on ctrl.v1, which " + *fault);
  return std::nullopt;
}

// What Krane's agents do not know, and would do without.
std::optional<Error> own_fields_fault(const json::value& message, const Workload& w) {
  const json::object* pod = object_at(message, "/pod");
  const json::object* budget = object_at(message, "/disruption_budget");
  const char* field = nullptr;
  if (pod != nullptr && !pod->empty()) field = "pod";
  if (budget != nullptr && !budget->empty()) field = "disruption_budget";
  if (integer_at(message, "/max_surge").value_or(0) != 0) field = "max_surge";
  if (!text_at(message, "/controller").empty() && w.controller != Controller::replica_set)
    field = "controller";
  if (field == nullptr) return std::nullopt;
  return unsayable(field, "cannot be said on ctrl.v1, whose agents would run the pods without it");
}

// The text of the object with `members` added at its end. The object must not be empty and must not
// have these members yet.
std::string with(std::string_view object, const json::object& members) {
  std::string out(object.substr(0, object.rfind('}')));
  out += ',';
  out += std::string_view(json::serialize(members)).substr(1);
  return out;
}

}  // namespace

// Called for every record of a snapshot, so it must be cheap. What is parsed lies in a memory pool
// of its own. When members are only added, the message's text is kept and not serialised again.
Result<std::string> apply_message(std::string_view apply, const Site& site) {
  std::array<unsigned char, 8 << 10> first;
  json::monotonic_resource memory(first.data(), first.size());
  auto value = parse_object(apply, "the deployment", &memory);
  if (!value.ok()) return value.error();
  json::object& message = value->get_object();
  const auto workload = read_workload(message, site);
  if (!workload.ok()) return workload.error();
  if (auto fault = secrets_fault(message, *workload)) return *fault;
  if (auto fault = own_fields_fault(*value, *workload)) return *fault;
  json::object more(&memory);
  bool rewritten = false;
  const auto say = [&](json::string_view key, json::value said) {
    rewritten = rewritten || message.contains(key);
    more[key] = said;
    message[key] = std::move(said);
  };
  // An agent without a Vault treats a blob without secrets as one with secrets, so it is left out.
  if (workload->encrypted_env.empty() && message.erase(secrets_field) > 0) rewritten = true;
  if (absent(message, "autoscaling")) {
    const int64_t n = workload->replicas;
    if (n == 0) {
      return unsayable("replicas",
                       "no pods cannot be said on ctrl.v1, where bounds begin at 1: stop or delete "
                       "the record, or set zero_is_delete of the kind");
    }
    // Agents from before 2026-04-02 know only `replicas`, so it stays beside the bounds.
    say("autoscaling", {{"min_replicas", n}, {"max_replicas", n}});
  }
  if (integer_at(*value, "/port").value_or(0) == 0) say("port", workload->port);
  if (rewritten) return json::serialize(message);
  return more.empty() ? std::string() : with(apply, more);
}

}  // namespace davit::deployment
