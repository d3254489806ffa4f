#include "exec_plugin.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <ctime>

#include <davit/utf8.hpp>

#include "kubernetes/json.hpp"

namespace davit::cluster_kubernetes {
namespace {

namespace json = boost::json;
using kubernetes::object_in;
using kubernetes::text_in;

Error fault(std::string message) {
  return {Code::unauthenticated, std::move(message)};
}

bool sendable_token(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; });
}

bool is_pem(std::string_view text) {
  return text.find("-----BEGIN ") != std::string_view::npos &&
         text.find("-----END ") != std::string_view::npos;
}

// Reads a number of exactly `digits` digits and moves on. -1: there is none.
int number(std::string_view& text, size_t digits) {
  int value = -1;
  if (text.size() < digits) return -1;
  const char* const end = text.data() + digits;
  const auto r = std::from_chars(text.data(), end, value);
  if (r.ec != std::errc() || r.ptr != end || text.front() == '-') return -1;
  text.remove_prefix(digits);
  return value;
}

bool skip(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

int64_t fraction_ms(std::string_view& text) {
  if (!skip(text, ".")) return 0;
  int64_t out = 0, unit = 100;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    out += unit * (text.front() - '0');
    unit /= 10;
    text.remove_prefix(1);
  }
  return out;
}

// The offset of a time zone in minutes: "Z", "+01:00".
std::optional<int> offset_of(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty()) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!skip(text, "+-")) return std::nullopt;
  const int hours = number(text, 2);
  const bool colon = skip(text, ":");
  const int minutes = number(text, 2);
  if (hours < 0 || !colon || minutes < 0 || !text.empty()) return std::nullopt;
  return sign * (60 * hours + minutes);
}

Result<Credential> read_status(const json::object& status) {
  Credential out;
  const auto token = text_in(status, "token");
  const auto certificate = text_in(status, "clientCertificateData");
  const auto key = text_in(status, "clientKeyData");
  if (!sendable_token(token))
    return fault("its answer has a token with characters that no token has");
  if (certificate.empty() != key.empty())
    return fault("its answer has only one of clientCertificateData and clientKeyData");
  if (token.empty() && certificate.empty())
    return fault("its answer has neither a token nor a client certificate");
  if (!certificate.empty() && (!is_pem(certificate) || !is_pem(key)))
    return fault("its answer has a client certificate or a key that is no PEM");
  const auto* expires = kubernetes::value_in(&status, "expirationTimestamp");
  if (expires != nullptr && !expires->is_null()) {
    out.expires_unix_ms = parse_rfc3339_ms(kubernetes::text_of(expires));
    if (!out.expires_unix_ms) return fault("its answer has an expirationTimestamp that is no time");
  }
  out.token = Secret(token);
  out.certificate = certificate;
  out.key = Secret(key);
  return out;
}

}  // namespace

bool is_exec_version(std::string_view v) {
  return v == "client.authentication.k8s.io/v1" || v == "client.authentication.k8s.io/v1beta1";
}

std::vector<std::string> exec_environment(const ExecPlugin& plugin,
                                          const std::vector<std::string>& present) {
  Pairs added = plugin.env;
  added.emplace_back("KUBERNETES_EXEC_INFO", plugin.info);
  std::vector<std::string> out;
  for (const auto& entry : present) {
    const std::string name = entry.substr(0, entry.find('='));
    const bool replaced = std::any_of(added.begin(), added.end(),
                                      [&name](const auto& pair) { return pair.first == name; });
    if (!replaced) out.push_back(entry);
  }
  // Of two values of one name the last is used.
  for (auto it = added.begin(); it != added.end(); ++it) {
    const bool later = std::any_of(std::next(it), added.end(),
                                   [&it](const auto& pair) { return pair.first == it->first; });
    if (!later) out.push_back(it->first + "=" + it->second);
  }
  return out;
}

Result<Credential> parse_exec_credential(std::string_view output, const ExecPlugin& plugin) {
  boost::system::error_code bad;
  const json::value value = json::parse(json::string_view(output.data(), output.size()), bad);
  if (bad || !value.is_object()) return fault("its answer is no JSON object");
  const auto& answer = value.get_object();
  if (text_in(answer, "kind") != "ExecCredential") return fault("its answer is no ExecCredential");
  const auto version = text_in(answer, "apiVersion");
  if (version != plugin.api_version) {
    return fault("its answer has the apiVersion \"" + one_line(version) +
                 "\", and the kubeconfig names \"" + plugin.api_version + "\"");
  }
  const auto* status = object_in(answer, "status");
  if (status == nullptr) return fault("its answer has no status");
  return read_status(*status);
}

std::optional<int64_t> parse_rfc3339_ms(std::string_view text) {
  std::tm utc{};
  const auto part = [&text](int& into, size_t digits, std::string_view after, int least, int most) {
    into = number(text, digits);
    return into >= least && into <= most && (after.empty() || skip(text, after));
  };
  const bool whole = part(utc.tm_year, 4, "-", 1970, 9999) && part(utc.tm_mon, 2, "-", 1, 12) &&
                     part(utc.tm_mday, 2, "Tt", 1, 31) && part(utc.tm_hour, 2, ":", 0, 23) &&
                     part(utc.tm_min, 2, ":", 0, 59) && part(utc.tm_sec, 2, "", 0, 60);
  if (!whole) return std::nullopt;
  const int64_t ms = fraction_ms(text);
  const auto offset = offset_of(text);
  if (!offset) return std::nullopt;
  utc.tm_year -= 1900;
  utc.tm_mon -= 1;
  return (static_cast<int64_t>(timegm(&utc)) - 60 * int64_t{*offset}) * 1000 + ms;
}

}  // namespace davit::cluster_kubernetes
