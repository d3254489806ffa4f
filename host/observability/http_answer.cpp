#include "http_answer.hpp"

#include "services/health.hpp"
#include "services/metrics.hpp"

namespace davit::host {
namespace {

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
  const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  const size_t space = line.find(' ');
  const size_t end = space == std::string_view::npos ? space : line.find(' ', space + 1);
  if (end == std::string_view::npos || !line.substr(end + 1).starts_with("HTTP/1.")) {
    return answer("400 Bad Request", plain, "this is not HTTP/1.1\n");
  }
  const std::string_view method = line.substr(0, space);
  std::string_view path = line.substr(space + 1, end - space - 1);
  path = path.substr(0, path.find('?'));
  const bool with_body = method != "HEAD";
  if (with_body && method != "GET") return answer("405 Method Not Allowed", plain, "GET or HEAD\n");
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
