#include "token_maker.hpp"

#include <algorithm>

#include "address.hpp"
#include "token_answer.hpp"

namespace davit::cluster_kubernetes {
namespace {

using Kind = TokenSource::Kind;

// `iat` is a little in the past: the clock of who reads the JWT may be behind. `exp` is counted
// from it, since some servers refuse a JWT that is good for longer than they allow.
int64_t issued_unix_s(const JwtRules& rules, int64_t now_unix_ms) {
  constexpr std::chrono::seconds most{30};
  return now_unix_ms / 1'000 - std::min(most, rules.lifetime / 4).count();
}
int64_t ends_unix_s(const JwtRules& rules, int64_t now_unix_ms) {
  return issued_unix_s(rules, now_unix_ms) + rules.lifetime.count();
}

constexpr const char* jwt_bearer_grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr const char* jwt_assertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

std::string in_double_quotes(const std::string& text) {
  return "\"" + text + "\"";
}

Error of_file(const char* setting, const std::string& file, const Error& why) {
  Error out = why.message.find(file) != std::string::npos ? why : why.in(in_double_quotes(file));
  out = out.in(setting);
  out.code = Code::failed_precondition;
  out.where = setting;
  return out;
}

bool passes(Code code) {
  return code == Code::unavailable || code == Code::deadline_exceeded || code == Code::cancelled;
}

}  // namespace

TokenMaker::TokenMaker(const Host& host, TokenSource source)
    : host_(host), source_(std::move(source)), client_(host, source_.options) {}

std::string TokenMaker::shown() const {
  const std::string who = !source_.client_id.empty()    ? "client \"" + source_.client_id + "\""
                          : !source_.jwt.issuer.empty() ? "issuer \"" + source_.jwt.issuer + "\""
                                                        : "this machine";
  if (source_.kind != Kind::signed_jwt) return who + " at " + source_.url;
  return who + ", subject \"" + source_.jwt.subject + "\", audience \"" + source_.jwt.audience +
         "\"";
}

Result<SigningKey> TokenMaker::key() const {
  const std::string& file = source_.jwt.key_file;
  const auto text = host_.credential(file);
  if (!text.ok()) return of_file("jwt_key_file", file, text.error());
  auto out = SigningKey::read(text->view(), source_.jwt.algorithm);
  if (!out.ok()) return of_file("jwt_key_file", file, out.error());
  return out;
}

Result<Secret> TokenMaker::client_secret() const {
  const std::string& file = source_.client_secret_file;
  auto out = host_.credential(file);
  if (!out.ok()) return of_file("client_secret_file", file, out.error());
  if (out->size() == 0)
    return of_file("client_secret_file", file, {Code::failed_precondition, "it is empty"});
  return out;
}

Result<> TokenMaker::check() const {
  if (!source_.jwt.key_file.empty())
    if (auto found = key(); !found.ok()) return found.error();
  if (!source_.client_secret_file.empty())
    if (auto found = client_secret(); !found.ok()) return found.error();
  return client_.check();
}

Result<Wiped> TokenMaker::signed_jwt(const SigningKey& key, int64_t now_unix_ms) const {
  Jwt jwt;
  jwt.key_id = source_.jwt.key_id;
  jwt.issuer = source_.jwt.issuer;
  jwt.subject = source_.jwt.subject;
  jwt.audience = source_.jwt.audience;
  jwt.more = source_.jwt.claims;
  for (const uint64_t part : {host_.random(), host_.random()}) jwt.id += std::to_string(part);
  jwt.issued_unix_s = issued_unix_s(source_.jwt, now_unix_ms);
  jwt.expires_unix_s = ends_unix_s(source_.jwt, now_unix_ms);
  return sign_jwt(key, jwt);
}

// What can be done about a refusal, once the way to the server is good.
std::string TokenMaker::advice(const std::optional<SigningKey>& key) const {
  if (key) {
    return "is the public key of " + in_double_quotes(source_.jwt.key_file) + " (SHA-256 " +
           key->fingerprint() + "...) registered there for " +
           in_double_quotes(source_.jwt.issuer) + ", and not revoked?";
  }
  if (source_.kind == Kind::metadata) return "does this machine have an identity there?";
  return "does the client exist there, and is its secret that of " +
         in_double_quotes(source_.client_secret_file) + "?";
}

Result<Credential> TokenMaker::make(const Op& op) {
  const bool sign_only = source_.kind == Kind::signed_jwt;
  auto made = sign_only ? sign() : ask(op);
  if (!made.ok()) return made.error().in("token of " + shown());
  if (made->expires_unix_ms) {
    made->renew_unix_ms =
        renewal_unix_ms(host_.unix_ms(), *made->expires_unix_ms, source_.renew_before);
  }
  return made;
}

Result<Credential> TokenMaker::sign() const {
  const auto own = key();
  if (!own.ok()) return own.error();
  const int64_t now = host_.unix_ms();
  const auto jwt = signed_jwt(*own, now);
  if (!jwt.ok()) return jwt.error();
  Credential out;
  out.token = Secret(jwt->view());
  out.expires_unix_ms = 1'000 * ends_unix_s(source_.jwt, now);
  out.doubt = "the token is a JWT of " + shown() + ": " + advice(*own);
  return out;
}

Result<Wiped> TokenMaker::form(const std::optional<SigningKey>& key, const Secret& secret) const {
  Wiped out;
  const bool exchange = source_.kind == Kind::jwt_bearer;
  append_form(out, "grant_type", exchange ? jwt_bearer_grant : "client_credentials");
  if (key) {
    const auto jwt = signed_jwt(*key, host_.unix_ms());
    if (!jwt.ok()) return jwt.error();
    if (!exchange) append_form(out, "client_assertion_type", jwt_assertion);
    append_form(out, exchange ? "assertion" : "client_assertion", jwt->view());
  }
  const bool named = key || source_.secret_in_body;
  if (named && !source_.client_id.empty()) append_form(out, "client_id", source_.client_id);
  if (source_.secret_in_body && secret.size() > 0) append_form(out, "client_secret", secret.view());
  if (!source_.scope.empty()) append_form(out, "scope", source_.scope);
  if (!source_.audience.empty()) append_form(out, "audience", source_.audience);
  return out;
}

Result<http::Response> TokenMaker::send(const std::optional<SigningKey>& key, const Secret& secret,
                                        const Op& op) {
  http::Request request;
  Wiped body, authorization;
  std::string url = source_.url;
  if (source_.kind == Kind::metadata) {
    if (!source_.audience.empty()) url += query_string({{"audience", source_.audience}});
    request.headers = {{"Metadata-Flavor", "Google"}};
    request.repeatable = true;
  } else {
    auto made = form(key, secret);
    if (!made.ok()) return made.error();
    body = std::move(*made);
    request.method = "POST";
    request.headers = {{"Accept", "application/json"},
                       {"Content-Type", "application/x-www-form-urlencoded"}};
  }
  if (secret.size() > 0 && !source_.secret_in_body) {
    authorization = basic_authorization(source_.client_id, secret.view());
    request.headers.push_back({"Authorization", authorization.view()});
  }
  request.url = url;
  request.body = body.view();
  return client_.send(request, op);
}

Result<Credential> TokenMaker::ask(const Op& op) {
  std::optional<SigningKey> own;
  Secret secret;
  if (!source_.jwt.key_file.empty()) {
    auto found = key();
    if (!found.ok()) return found.error();
    own = std::move(*found);
  }
  if (!source_.client_secret_file.empty()) {
    auto found = client_secret();
    if (!found.ok()) return found.error();
    secret = std::move(*found);
  }
  const int64_t asked = host_.unix_ms();
  const auto answer = send(own, secret, op);
  if (!answer.ok()) return answer.error();
  auto out = read_token_answer(*answer, asked, {secret.view()});
  if (out.ok()) {
    if (out->doubt.empty()) {
      out->doubt = "the token is of " + shown() +
                   ": does the API server accept tokens of that server, and for this audience?";
    }
    return out;
  }
  Error error = out.error();
  if (answer->status >= 400 && !passes(error.code) && answer->status != 404) {
    error.message += "; " + advice(own);
    const std::string clock = clock_difference(answer->header("date"), host_.unix_ms());
    if (!clock.empty()) error.message += " And " + clock;
  }
  return error;
}

}  // namespace davit::cluster_kubernetes
