#include "definition.hpp"

#include <future>
#include <thread>

#include <boost/json.hpp>

#include "cluster_definition.hpp"
#include "kubernetes/answer.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::clusters {
namespace {

using namespace std::chrono_literals;

constexpr const char* name = "clusters.cluster.k8s.io";
constexpr auto served_within = 30s;
constexpr auto looked_at_again = 200ms;

cluster::Response ask(const cluster::Client& cluster, const Op& op, const cluster::Request& q) {
  std::promise<cluster::Response> answer;
  cluster.under(op).request(q, [&](cluster::Response r) { answer.set_value(std::move(r)); });
  return answer.get_future().get();
}

Result<boost::json::value> definition_of(const cluster::Response& r, const std::string& what) {
  if (r.code != Code::ok)
    return Error{r.code,
                 std::string(name) + " cannot be " + what + ": " + kubernetes::answer_text(r)};
  return boost::json::value(kubernetes::object_of(r.body));
}

}  // namespace

Result<std::string> install_definition(const Host& host, const cluster::Client& cluster,
                                       const Op& op) {
  cluster::Request q;
  q.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  q.name = name;
  q.verb = DAVIT_VERB_GET;
  const auto before = ask(cluster, op, q);
  const auto was = std::string(
      kubernetes::text_at(kubernetes::object_of(before.body), "/metadata/resourceVersion"));
  cluster::Request apply = q;
  apply.verb = DAVIT_VERB_APPLY;
  apply.query = {{"fieldManager", "davit-clusters"}, {"force", "true"}};
  apply.body = cluster_definition;
  auto now = definition_of(ask(cluster, op, apply), "applied");
  if (!now.ok()) return now.error();
  const bool same = kubernetes::text_at(*now, "/metadata/resourceVersion") == was;
  const auto until = host.now() + served_within;
  while (!kubernetes::says(*now, "Established", "True")) {
    if (op.cancelled() || host.now() > until) {
      return Error{Code::unavailable, std::string(name) + " is applied, and not served yet: " +
                                          kubernetes::saying(*now, "NamesAccepted")};
    }
    std::this_thread::sleep_for(looked_at_again);
    now = definition_of(ask(cluster, op, q), "read");
    if (!now.ok()) return now.error();
  }
  const char* how = before.code != Code::ok ? "created" : same ? "unchanged" : "changed";
  return std::string(name) + " is " + how + "\n";
}

}  // namespace davit::clusters
