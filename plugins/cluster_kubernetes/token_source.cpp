#include "token_source.hpp"

#include <algorithm>

#include "http/settings.hpp"

namespace davit::cluster_kubernetes {
namespace {

using Kind = TokenSource::Kind;

std::optional<Kind> kind_named(const std::string& name) {
  if (name == "client_credentials") return Kind::client_credentials;
  if (name == "jwt_bearer") return Kind::jwt_bearer;
  if (name == "signed_jwt") return Kind::signed_jwt;
  if (name == "metadata") return Kind::metadata;
  return std::nullopt;
}

JwtRules read_jwt(const Settings& s) {
  JwtRules out;
  out.key_file = s.string("jwt_key_file", "");
  out.algorithm = s.string("jwt_algorithm", "RS256");
  if (out.algorithm != "RS256" && out.algorithm != "ES256")
    s.reject("jwt_algorithm", "must be \"RS256\" or \"ES256\"");
  out.key_id = s.string("jwt_key_id", "");
  out.issuer = s.string("jwt_issuer", "");
  out.subject = s.string("jwt_subject", "");
  out.audience = s.string("jwt_audience", "");
  out.claims = s.table("jwt_claims").entries();
  for (const auto& [name, value] : out.claims) {
    static constexpr std::string_view ours[] = {"iss", "sub", "aud", "iat", "exp", "jti"};
    if (std::find(std::begin(ours), std::end(ours), name) != std::end(ours))
      s.reject("jwt_claims", "\"" + name + "\" is not set here: it has a setting, or is ours");
  }
  constexpr int64_t day = 86'400;
  out.lifetime = std::chrono::seconds(s.integer("jwt_lifetime_s", out.lifetime.count(), 10, day));
  return out;
}

// The other members as they are meant when they are not set.
void fill_in(TokenSource& t) {
  if (t.jwt.issuer.empty()) t.jwt.issuer = t.client_id;
  if (t.jwt.subject.empty()) t.jwt.subject = t.jwt.issuer;
  if (t.jwt.audience.empty()) t.jwt.audience = t.url;
}

void check_parts(const Settings& s, const TokenSource& t) {
  const bool oauth = t.kind == Kind::client_credentials;
  const bool secret = !t.client_secret_file.empty(), key = !t.jwt.key_file.empty();
  if (oauth && t.client_id.empty()) s.reject("client_id", "is needed for client_credentials");
  if (oauth && secret == key) {
    s.reject("client_secret_file",
             "either it or jwt_key_file is needed for client_credentials: what the client proves "
             "itself with");
  }
  if (!oauth && secret) {
    s.reject("client_secret_file", "belongs to client_credentials: leave it out");
  }
  if (t.kind == Kind::metadata && key) {
    s.reject("jwt_key_file", "is not used for metadata: leave it out");
  }
  if (t.kind != Kind::jwt_bearer && t.kind != Kind::signed_jwt) return;
  if (!key) s.reject("jwt_key_file", "is needed: the private key that signs the JWT");
  if (t.jwt.issuer.empty()) s.reject("jwt_issuer", "is needed: who signs the JWT");
  if (t.jwt.audience.empty()) s.reject("jwt_audience", "is needed: who accepts the JWT");
}

}  // namespace

std::optional<TokenSource> read_token_source(const Settings& settings) {
  if (!settings.has("token")) return std::nullopt;
  const Settings s = settings.table("token");
  TokenSource out;
  const std::string name = s.string("source");
  const auto kind = kind_named(name);
  if (kind) {
    out.kind = *kind;
  } else if (s.has("source")) {
    s.reject("source",
             "must be \"client_credentials\", \"jwt_bearer\", \"signed_jwt\" or \"metadata\"");
  }
  constexpr size_t bytes_usual = 1u << 20;
  http::Options usual;
  usual.response_bytes_max = bytes_usual;
  if (out.kind != Kind::signed_jwt) {
    http::Target target = http::read_target(s, usual);
    // A metadata server is on the machine or beside it, and speaks HTTP.
    if (out.kind != Kind::metadata) out.url_doubt = http::doubt(target.url);
    out.url = std::move(target.url.text);
    out.options = std::move(target.options);
  }
  out.client_id = s.string("client_id", "");
  out.client_secret_file = s.string("client_secret_file", "");
  out.secret_in_body = s.boolean("client_secret_in_body", false);
  out.scope = s.string("scope", "");
  out.audience = s.string("audience", "");
  out.jwt = read_jwt(s);
  fill_in(out);
  constexpr int64_t day = 86'400;
  out.renew_before = std::chrono::seconds(s.integer("renew_before_s", 60, 1, day));
  if (kind) check_parts(s, out);
  return out;
}

}  // namespace davit::cluster_kubernetes
