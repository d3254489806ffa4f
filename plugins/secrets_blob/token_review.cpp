#include "token_review.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/json.hpp"

namespace davit::secrets_blob {
namespace json = boost::json;
namespace {

Error refused(std::string why) {
  return {Code::unauthenticated, std::move(why)};
}

bool has_audience(const json::value& answer, const std::vector<std::string>& wanted) {
  const json::array* said = kubernetes::array_at(answer, "/status/audiences");
  if (said == nullptr) return false;
  return std::any_of(said->begin(), said->end(), [&](const json::value& one) {
    return std::find(wanted.begin(), wanted.end(), kubernetes::text_of(&one)) != wanted.end();
  });
}

// The only value of the user's extra key. Nothing: there is none. More than one is an error.
Result<std::string> extra(const json::value& answer, std::string_view key) {
  const json::object* all = kubernetes::object_at(answer, "/status/user/extra");
  const json::array* values = kubernetes::array_in(all, key);
  if (values == nullptr || values->empty()) return std::string();
  const std::string_view text = kubernetes::text_of(&values->front());
  if (values->size() != 1 || text.empty())
    return refused("its " + std::string(key) + " is not one text");
  return std::string(text);
}

// "system:serviceaccount:NAMESPACE:NAME"
Result<PodIdentity> service_account_of(std::string_view user) {
  constexpr std::string_view prefix = "system:serviceaccount:";
  const auto no_account = refused("the token is not that of a service account");
  if (!user.starts_with(prefix)) return no_account;
  user.remove_prefix(prefix.size());
  const size_t colon = user.find(':');
  if (colon == std::string_view::npos) return no_account;
  PodIdentity out;
  out.ns = user.substr(0, colon);
  out.service_account = user.substr(colon + 1);
  if (kubernetes::dns_label_fault(out.ns) || kubernetes::dns_subdomain_fault(out.service_account))
    return no_account;
  return out;
}

}  // namespace

bool may_be_token(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

cluster::Request review_request() {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"authentication.k8s.io", "v1", "tokenreviews"};
  return q;
}

Wiped review_body(std::string_view token, const std::vector<std::string>& audiences) {
  Wiped out(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":")");
  out.append(token);  // characters that need no escapes
  out.append("\"");
  if (!audiences.empty()) {
    out.append(",\"audiences\":");
    out.append(json::serialize(json::array(audiences.begin(), audiences.end())));
  }
  out.append("}}");
  return out;
}

Result<PodIdentity> read_review(std::string_view answer,
                                const std::vector<std::string>& audiences) {
  const auto parsed = kubernetes::parse_object(answer, "the answer to a TokenReview");
  if (!parsed.ok()) return Error{Code::unavailable, parsed.error().message};
  const json::object* status = kubernetes::object_at(*parsed, "/status");
  if (kubernetes::text_at(*parsed, "/kind") != "TokenReview" || status == nullptr)
    return Error{Code::unavailable, "the answer to a TokenReview is none"};
  const json::value* authenticated = kubernetes::value_in(status, "authenticated");
  if (authenticated == nullptr || !authenticated->is_bool() || !authenticated->get_bool())
    return refused("the API server does not accept the token");
  if (!audiences.empty() && !has_audience(*parsed, audiences))
    return refused("the token is not for one of the audiences");
  auto out = service_account_of(kubernetes::text_at(*parsed, "/status/user/username"));
  if (!out.ok()) return out;
  auto pod = extra(*parsed, "authentication.kubernetes.io/pod-name");
  if (!pod.ok()) return pod.error();
  if (kubernetes::dns_subdomain_fault(*pod)) return refused("the token is not bound to a pod");
  auto uid = extra(*parsed, "authentication.kubernetes.io/pod-uid");
  if (!uid.ok()) return uid.error();
  out->pod = std::move(*pod);
  out->uid = std::move(*uid);
  return out;
}

}  // namespace davit::secrets_blob
