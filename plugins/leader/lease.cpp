#include "lease.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <limits>

#include <davit/rfc3339.hpp>

#include "kubernetes/json.hpp"

namespace davit::leader {
namespace {

namespace json = boost::json;

constexpr const char* epoch_annotation = "davit.dev/epoch";

std::string text_at(const json::value& object, std::string_view pointer) {
  return std::string(kubernetes::text_at(object, pointer));
}

int64_t number_at(const json::value& object, std::string_view pointer) {
  const int64_t n = kubernetes::integer_at(object, pointer).value_or(0);
  return std::clamp<int64_t>(n, 0, std::numeric_limits<int32_t>::max());
}

// MicroTime: "2026-11-22T03:04:05.006000Z".
std::string micro_time(int64_t unix_ms) {
  std::string text = rfc3339(unix_ms);
  return text.insert(text.size() - 1, "000");
}

}  // namespace

cluster::Resource leases() {
  return {"coordination.k8s.io", "v1", "leases"};
}

// RBAC cannot restrict "create" to a name, because the name is in the body.
std::string lease_role(const Place& place) {
  return "apiVersion: rbac.authorization.k8s.io/v1\n"
         "kind: Role\n"
         "metadata:\n"
         "  name: " +
         place.name + "\n  namespace: " + place.ns +
         "\nrules:\n"
         "- apiGroups: [\"coordination.k8s.io\"]\n"
         "  resources: [leases]\n"
         "  resourceNames: [\"" +
         place.name +
         "\"]\n"
         "  verbs: [get, patch]\n"
         "- apiGroups: [\"coordination.k8s.io\"]\n"
         "  resources: [leases]\n"
         "  verbs: [create]\n";
}

Result<Lease> parse_lease(std::string_view object) {
  boost::system::error_code bad;
  const json::value lease = json::parse({object.data(), object.size()}, bad);
  Lease out;
  out.resource_version = bad ? std::string() : text_at(lease, "/metadata/resourceVersion");
  if (out.resource_version.empty()) return Error{Code::internal, "the answer is not a Lease"};
  out.holder = text_at(lease, "/spec/holderIdentity");
  out.renew_time = text_at(lease, "/spec/renewTime");
  out.duration = std::chrono::seconds(number_at(lease, "/spec/leaseDurationSeconds"));
  out.transitions = number_at(lease, "/spec/leaseTransitions");
  const std::string epoch = text_at(lease, "/metadata/annotations/davit.dev~1epoch");
  uint64_t number = 0;
  std::from_chars(epoch.data(), epoch.data() + epoch.size(), number);
  out.epoch = Epoch(number);
  return out;
}

cluster::Request write_request(const Place& place, const Lease& lease, bool acquires,
                               int64_t now_unix_ms) {
  const bool fresh = lease.resource_version.empty();
  const json::string now(micro_time(now_unix_ms));
  json::object meta{{"annotations", {{epoch_annotation, to_string(lease.epoch)}}}};
  // The API knows whole seconds. The duration is rounded up, so that others wait too long rather
  // than too short.
  json::object spec{
      {"holderIdentity", lease.holder.empty() ? json::value() : json::value(lease.holder)},
      {"leaseDurationSeconds", std::chrono::ceil<std::chrono::seconds>(lease.duration).count()},
      {"leaseTransitions", lease.transitions},
      {"renewTime", now}};
  if (acquires) spec["acquireTime"] = now;
  json::object object{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  if (fresh) {
    meta["name"] = place.name;
  } else {
    meta["resourceVersion"] = lease.resource_version;
  }
  object["metadata"] = std::move(meta);
  object["spec"] = std::move(spec);
  cluster::Request out;
  out.verb = fresh ? DAVIT_VERB_CREATE : DAVIT_VERB_MERGE;
  out.resource = leases();
  out.ns = place.ns;
  if (!fresh) out.name = place.name;
  out.body = json::serialize(object);
  return out;
}

}  // namespace davit::leader
