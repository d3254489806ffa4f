#include "answer.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>

#include "kubernetes/json.hpp"

namespace davit::cluster_kubernetes {
namespace {

Code code_of_transport(Outcome::Transport t) {
  switch (t) {
    case Outcome::Transport::ok:
      return Code::ok;
    case Outcome::Transport::timed_out:
      return Code::deadline_exceeded;
    case Outcome::Transport::too_large:
      return Code::resource_exhausted;
    case Outcome::Transport::cancelled:
      return Code::cancelled;
    case Outcome::Transport::no_credentials:
      return Code::unauthenticated;
    case Outcome::Transport::failed:
      return Code::unavailable;
  }
  return Code::unavailable;
}

// Whether etcd takes no object of this size. The API server says so with 500, as of a fault that
// may pass, but the same object is refused each time. (apiserver: handlers/rest.go,
// isTooLargeError)
bool is_too_large(int http, std::string_view message) {
  const auto says = [&](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  };
  return http == 500 && (says("etcdserver: request is too large") ||
                         says("trying to send message larger than max"));
}

}  // namespace

void read_status(const std::string& body, cluster::Response& out) {
  boost::system::error_code bad;
  const auto parsed = boost::json::parse(body, bad);
  if (bad || !parsed.is_object()) return;
  const auto& o = parsed.get_object();
  if (kubernetes::text_in(o, "kind") != "Status") return;
  out.reason = kubernetes::text_in(o, "reason");
  out.message = kubernetes::text_in(o, "message");
  const auto* seconds =
      kubernetes::value_in(kubernetes::object_in(o, "details"), "retryAfterSeconds");
  static constexpr int64_t seconds_max = 86'400;
  if (out.retry_after.count() == 0 && seconds != nullptr && seconds->is_int64() &&
      seconds->get_int64() > 0) {
    out.retry_after = std::chrono::seconds(std::min(seconds->get_int64(), seconds_max));
  }
}

bool is_of_api_server(const Outcome& o) {
  return std::any_of(o.headers.begin(), o.headers.end(),
                     [](const auto& header) { return header.first == "audit-id"; });
}

Code code_of_http(int http, std::string_view reason) {
  if (http >= 200 && http < 300) return Code::ok;
  switch (http) {
    case 401:
      return Code::unauthenticated;
    case 403:
      return Code::permission_denied;
    case 404:
      return Code::not_found;
    case 408:
      return Code::deadline_exceeded;
    case 409:
      return reason == "AlreadyExists" ? Code::already_exists : Code::aborted;
    case 410:
      return Code::out_of_range;
    case 429:
      return Code::resource_exhausted;
    case 500:
      return Code::internal;
    case 501:
      return Code::unimplemented;
    case 504:
      return Code::deadline_exceeded;
    default:
      break;
  }
  if (http >= 500) return Code::unavailable;
  return http >= 400 ? Code::invalid_argument : Code::internal;  // redirects are not followed
}

std::chrono::milliseconds retry_after(const Pairs& headers) {
  for (const auto& [key, value] : headers) {
    if (key != "retry-after") continue;
    uint32_t seconds = 0;
    const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    static constexpr uint32_t seconds_max = 86'400;
    if (bad == std::errc() && end == value.data() + value.size()) {
      return std::chrono::seconds(std::min(seconds, seconds_max));
    }
  }
  return {};
}

cluster::Response to_response(Outcome o) {
  cluster::Response r;
  r.http_status = o.http;
  const bool of_api_server = is_of_api_server(o);
  r.headers = std::move(o.headers);
  if (o.transport != Outcome::Transport::ok) {
    r.code = code_of_transport(o.transport);
    r.message = std::move(o.error);
    r.http_status = 0;
    return r;
  }
  r.retry_after = retry_after(r.headers);
  if (o.http < 200 || o.http >= 300) {
    read_status(o.body, r);
    if (is_too_large(o.http, r.message)) {
      constexpr int request_entity_too_large = 413;
      r.http_status = o.http = request_entity_too_large;
    }
    if (r.message.empty() && o.http == 404 && !of_api_server) {
      // A caller would take it for an object that has gone. The API server has not answered.
      r.code = Code::unavailable;
      r.http_status = 0;
      r.message = "the API server did not send this: is a proxy in between?";
      return r;
    }
    if (r.message.empty() && o.http == 404) {
      r.message = "the API server knows no such resource: is its definition installed?";
    } else if (r.message.empty()) {
      r.message = "the API server answered with HTTP status " + std::to_string(o.http);
    }
  }
  r.code = code_of_http(o.http, r.reason);
  r.body = std::move(o.body);
  return r;
}

}  // namespace davit::cluster_kubernetes
