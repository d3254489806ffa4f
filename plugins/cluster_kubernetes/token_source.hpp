// TokenSource: where the bearer token comes from when it is neither in the kubeconfig nor made by
// its exec plugin (settings `token`). TokenMaker carries it out.
#pragma once

#include <davit/settings.hpp>

#include "http/client.hpp"

namespace davit::cluster_kubernetes {

// How a JWT is made and signed (RFC 7519).
struct JwtRules {
  std::string key_file;  // PEM; empty: none is signed
  std::string algorithm, key_id, issuer, subject, audience;
  Pairs claims;  // more of them
  std::chrono::seconds lifetime{900};
};

struct TokenSource {
  enum class Kind {
    client_credentials,  // OAuth 2.0 (RFC 6749, 4.4)
    jwt_bearer,          // a signed JWT is exchanged for a token (RFC 7523, 2.1)
    signed_jwt,          // the signed JWT is the token
    metadata,            // a GET answers with it
  };
  Kind kind = Kind::client_credentials;
  std::string url;        // of the token server; empty for signed_jwt
  std::string url_doubt;  // what is wrong with it, though it works; empty: nothing
  http::Options options;  // how it is asked
  std::string client_id, client_secret_file;
  bool secret_in_body = false;
  std::string scope, audience;
  JwtRules jwt;
  std::chrono::seconds renew_before{60};
};

// The table `token`. Nothing: there is none. Rejects what is wrong. Only in a plugin's constructor.
std::optional<TokenSource> read_token_source(const Settings& settings);

}  // namespace davit::cluster_kubernetes
