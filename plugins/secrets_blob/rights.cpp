#include "rights.hpp"

#include <array>
#include <future>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/json.hpp"

namespace davit::secrets_blob {
namespace json = boost::json;
namespace {

struct Right {
  const char *group, *resource, *verb;
};
constexpr std::array needed = {Right{"authentication.k8s.io", "tokenreviews", "create"},
                               Right{"", "pods", "get"}};

cluster::Request question_of(const Right& right) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
  const json::object attributes{{"verb", right.verb},
                                {"group", right.group},
                                {"version", "v1"},
                                {"resource", right.resource}};
  q.body = json::serialize(json::object{{"apiVersion", "authorization.k8s.io/v1"},
                                        {"kind", "SelfSubjectAccessReview"},
                                        {"spec", {{"resourceAttributes", attributes}}}});
  return q;
}

// Nothing: there is no answer.
std::optional<bool> allowed(const cluster::Response& r) {
  if (r.code == Code::permission_denied || r.code == Code::unauthenticated) return false;
  if (r.code != Code::ok) return std::nullopt;
  const auto answer = kubernetes::parse_object(r.body, "the answer");
  if (!answer.ok()) return std::nullopt;
  const json::value* out =
      kubernetes::value_in(kubernetes::object_at(*answer, "/status"), "allowed");
  return out != nullptr && out->is_bool() ? std::optional(out->get_bool()) : std::nullopt;
}

}  // namespace

std::string cluster_role() {
  std::string out =
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: ClusterRole\n"
      "metadata:\n"
      "  name: davit-secrets-blob\n"
      "rules:\n";
  for (const Right& right : needed) {
    out += std::string("- apiGroups: [\"") + right.group + "\"]\n  resources: [" + right.resource +
           "]\n  verbs: [" + right.verb + "]\n";
  }
  return out;
}

Result<> check_rights(const Host& host, const cluster::Client& cluster,
                      std::chrono::nanoseconds deadline) {
  std::string missing;
  for (const Right& right : needed) {
    cluster::Request q = question_of(right);
    q.deadline_ns = deadline.count();
    // Shared with the callback, which may come after this function has stopped waiting.
    const auto answered = std::make_shared<std::promise<cluster::Response>>();
    auto answer = answered->get_future();
    cluster.request(q, [answered](cluster::Response r) { answered->set_value(std::move(r)); });
    if (answer.wait_for(deadline - host.now()) != std::future_status::ready) return {};
    if (allowed(answer.get()).value_or(true)) continue;
    missing += (missing.empty() ? "" : "; ") + std::string("the agent's account may not ") +
               right.verb + " " + right.resource + " (API group \"" + right.group +
               "\") in all namespaces";
  }
  if (missing.empty()) return {};
  return Error{Code::permission_denied, missing};
}

}  // namespace davit::secrets_blob
