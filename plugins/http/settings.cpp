#include "settings.hpp"

#include <davit/ascii.hpp>

namespace davit::http {
namespace {

void read_tls(const Settings& settings, const Url& url, TlsFiles::Names& out) {
  out.ca_file = settings.string("ca_file", "");
  out.certificate_file = settings.string("certificate_file", "");
  out.key_file = settings.string("key_file", "");
  if (out.certificate_file.empty() != out.key_file.empty()) {
    settings.reject(out.key_file.empty() ? "certificate_file" : "key_file",
                    "certificate_file and key_file go together");
  }
  if (url.text.empty() || url.tls) return;
  for (const char* key : {"ca_file", "certificate_file", "tls_server_name"}) {
    if (settings.has(key)) settings.reject(key, "needs an https:// url");
  }
}

std::string read_server_name(const Settings& settings) {
  std::string name = settings.string("tls_server_name", "");
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  if (lower_case(name).find_first_not_of(letters) != std::string::npos)
    settings.reject("tls_server_name", "is no host's name");
  return name;
}

std::string read_proxy(const Settings& settings) {
  std::string proxy = settings.string("proxy", "");
  if (proxy.empty() || proxy == proxy_of_environment) return proxy;
  if (auto url = parse_url(proxy); !url.ok()) {
    settings.reject("proxy", url.error().message + "; \"" + std::string(proxy_of_environment) +
                                 "\" is what the environment says");
  }
  return proxy;
}

}  // namespace

Target read_target(const Settings& settings, const Options& usual) {
  Target out;
  out.options = usual;
  const std::string url = settings.string("url");
  if (auto parsed = parse_url(url); parsed.ok()) {
    out.url = std::move(*parsed);
  } else if (settings.has("url")) {
    settings.reject("url", parsed.error().message);
  }
  read_tls(settings, out.url, out.options.tls);
  out.options.tls_server_name = read_server_name(settings);
  out.options.proxy = read_proxy(settings);
  out.options.http2 = settings.boolean("http2", usual.http2);
  constexpr int64_t bytes_least = 1'024, bytes_most = int64_t{1} << 30;
  out.options.connect_timeout =
      settings.milliseconds("connect_timeout_ms", usual.connect_timeout, 1);
  out.options.request_timeout =
      settings.milliseconds("request_timeout_ms", usual.request_timeout, 1);
  out.options.response_bytes_max = static_cast<size_t>(
      settings.integer("response_bytes_max", static_cast<int64_t>(usual.response_bytes_max),
                       bytes_least, bytes_most));
  return out;
}

std::string doubt(const Url& url) {
  if (url.tls || url.loopback) return {};
  return "without TLS, everybody on the way can read the token and the secrets";
}

}  // namespace davit::http
