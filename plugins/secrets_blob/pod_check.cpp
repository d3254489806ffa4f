#include "pod_check.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/times.hpp"

namespace davit::secrets_blob {
namespace json = boost::json;
namespace {

// So long after the end of its grace period the API server accepts no token of a deleted pod.
constexpr int64_t leeway_ms = 60'000;

Error not_theirs(const std::string& why) {
  return {Code::unauthenticated, why};
}

// Whether the pod has come to its end. A pod that is within its grace period may still ask: a
// container of it may start once more.
std::optional<std::string> ended(const json::value& pod, int64_t now_unix_ms) {
  const std::string_view phase = kubernetes::text_at(pod, "/status/phase");
  if (phase == "Succeeded" || phase == "Failed") return "the pod has finished";
  const std::string_view deleted = kubernetes::text_at(pod, "/metadata/deletionTimestamp");
  if (deleted.empty()) return std::nullopt;
  const auto at = kubernetes::unix_ms_of(deleted);
  if (at && now_unix_ms < *at + leeway_ms) return std::nullopt;
  return "the pod was to be gone by now";
}

}  // namespace

cluster::Request pod_request(const PodIdentity& who) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = {"", "v1", "pods"};
  q.ns = who.ns;
  q.name = who.pod;
  return q;
}

Result<> check_pod(std::string_view pod, const PodIdentity& who, const Claim& claim,
                   const std::string& label_prefix, int64_t now_unix_ms) {
  const auto parsed = kubernetes::parse_object(pod, "the answer to a GET of a pod");
  if (!parsed.ok()) return Error{Code::unavailable, parsed.error().message};
  const bool asked_for = kubernetes::text_at(*parsed, "/metadata/namespace") == who.ns &&
                         kubernetes::text_at(*parsed, "/metadata/name") == who.pod;
  if (kubernetes::text_at(*parsed, "/kind") != "Pod" || !asked_for)
    return Error{Code::unavailable, "the answer to a GET of a pod is not that pod"};
  if (!who.uid.empty() && kubernetes::text_at(*parsed, "/metadata/uid") != who.uid)
    return not_theirs("the pod is another one of the same name");
  if (auto why = ended(*parsed, now_unix_ms)) return not_theirs(*why);
  const json::object* labels = kubernetes::object_at(*parsed, "/metadata/labels");
  if (kubernetes::text_in(labels, label_prefix + "deployment.id") != claim.deployment_id)
    return not_theirs("the pod is one of another deployment");
  if (kubernetes::text_in(labels, label_prefix + "environment.id") != claim.environment_id)
    return not_theirs("the pod is one of another environment");
  return {};
}

}  // namespace davit::secrets_blob
