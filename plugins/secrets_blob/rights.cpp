#include "rights.hpp"

#include <future>

#include "kubernetes/namespaces.hpp"

namespace davit::secrets_blob {
namespace {

const std::vector<kubernetes::Right>& needed() {
  static const std::vector<kubernetes::Right> rights{
      {"create", "authentication.k8s.io", "v1", "tokenreviews", false}, {"get", "", "v1", "pods"}};
  return rights;
}

// Nothing: there is no answer.
std::optional<bool> allowed(const cluster::Response& r) {
  if (r.code == Code::permission_denied || r.code == Code::unauthenticated) return false;
  return kubernetes::allowed(r);
}

}  // namespace

std::string cluster_role() {
  return kubernetes::cluster_role("davit-secrets-blob", needed());
}

Result<> check_rights(const Host& host, const cluster::Client& cluster,
                      std::chrono::nanoseconds deadline) {
  std::string missing;
  for (const auto& right :
       kubernetes::in_namespaces(needed(), kubernetes::namespaces_of(cluster))) {
    cluster::Request q = kubernetes::review_of(right);
    q.deadline_ns = deadline.count();
    // Shared with the callback, which may come after this function has stopped waiting.
    const auto answered = std::make_shared<std::promise<cluster::Response>>();
    auto answer = answered->get_future();
    cluster.request(q, [answered](cluster::Response r) { answered->set_value(std::move(r)); });
    if (answer.wait_for(deadline - host.now()) != std::future_status::ready) return {};
    if (allowed(answer.get()).value_or(true)) continue;
    missing += missing.empty() ? "" : "; ";
    missing += kubernetes::denied({right.verb}, right.resource, right.group, right.ns);
  }
  if (missing.empty()) return {};
  return Error{Code::permission_denied, missing};
}

}  // namespace davit::secrets_blob
