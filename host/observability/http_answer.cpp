// As in rpc/connect/http1_session.cpp, whose copy of the parser may be linked for this one.
#define BOOST_DISABLE_ASSERTS

#include "http_answer.hpp"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "services/health.hpp"
#include "services/metrics.hpp"

namespace davit::host {
namespace {

namespace http = boost::beast::http;

std::string answer(std::string_view status, std::string_view type, std::string_view body,
                   bool with_body = true) {
  std::string out = "HTTP/1.1 ";
  out += status;
  out += "\r\nContent-Type: ";
  out += type;
  out += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
  if (with_body) out += body;
  return out;
}

constexpr std::string_view plain = "text/plain; charset=utf-8";

}  // namespace

std::string http_answer(std::string_view head, const Metrics& metrics, const Health& health) {
  http::request_parser<http::empty_body> parser;
  boost::system::error_code bad;
  parser.put(boost::asio::buffer(head.data(), head.size()), bad);
  if (!parser.is_header_done()) return answer("400 Bad Request", plain, "this is not HTTP/1.1\n");
  const auto& request = parser.get();
  const bool with_body = request.method() != http::verb::head;
  if (with_body && request.method() != http::verb::get)
    return answer("405 Method Not Allowed", plain, "GET or HEAD\n");
  const auto path = request.target().substr(0, request.target().find('?'));
  if (path == "/metrics") {
    return answer("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics.expose(),
                  with_body);
  }
  if (path == "/healthz") return answer("200 OK", plain, "ok\n", with_body);
  if (path != "/readyz") {
    return answer("404 Not Found", plain, "/metrics, /healthz or /readyz\n", with_body);
  }
  const Health::Entry worst = health.worst();
  std::string body = Health::word(worst.health);
  if (worst.health != DAVIT_HEALTH_SERVING && !worst.instance.empty()) {
    body += ": " + worst.instance + (worst.reason.empty() ? "" : ": " + worst.reason);
  }
  return answer(worst.ready() ? "200 OK" : "503 Service Unavailable", plain, body + "\n",
                with_body);
}

}  // namespace davit::host
