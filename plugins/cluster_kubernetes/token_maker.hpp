// TokenMaker: makes the bearer token that the settings `token` describe. It signs a JWT, or asks a
// token server, or both. Credentials has it run on a thread of its own, for it blocks.
//
// Key, secret and TLS files are read for each token, so one that was replaced needs no restart. No
// message has anything of a secret or a token.
#pragma once

#include <davit/operation.hpp>

#include "credential.hpp"
#include "jwt.hpp"
#include "token_source.hpp"

namespace davit::cluster_kubernetes {

class TokenMaker {
 public:
  TokenMaker(const Host& host, TokenSource source);

  // Whether the files can be read and used now. An error's `where` is the setting.
  Result<> check() const;
  // One at a time. Blocks until `op` ends or the server has answered. UNAVAILABLE and
  // DEADLINE_EXCEEDED: it will pass. Other errors: somebody must do something. Each says who asks
  // whom, and what to do.
  Result<Credential> make(const Op& op);
  // Who asks whom, for people: `client "robot-17" at https://login.example/token`.
  std::string shown() const;

 private:
  Result<SigningKey> key() const;
  Result<Wiped> signed_jwt(const SigningKey& key, int64_t now_unix_ms) const;
  Result<Credential> sign() const;
  Result<Credential> ask(const Op& op);
  Result<Secret> client_secret() const;
  Result<http::Response> send(const std::optional<SigningKey>& key, const Secret& secret,
                              const Op& op);
  Result<Wiped> form(const std::optional<SigningKey>& key, const Secret& secret) const;
  std::string advice(const std::optional<SigningKey>& key) const;

  const Host host_;
  const TokenSource source_;
  http::Client client_;
};

}  // namespace davit::cluster_kubernetes
