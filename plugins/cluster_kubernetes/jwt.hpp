// JSON Web Tokens (RFC 7519): signs them with a private key, and reads when one ends. TokenMaker
// uses it. Pure. A signed JWT is a secret, and stands in memory that is overwritten.
#pragma once

#include <davit/host.hpp>
#include <davit/wiped.hpp>
#include <memory>
#include <optional>

struct evp_pkey_st;

namespace davit::cluster_kubernetes {

// A private key in PEM: RSA of 2048 bits or more for RS256, P-256 for ES256.
class SigningKey {
 public:
  // The error says what is wrong with the key, and contains nothing of it. A key that needs a
  // password is refused.
  static Result<SigningKey> read(std::string_view pem, const std::string& algorithm);

  const std::string& algorithm() const { return algorithm_; }
  // The first 16 hex digits of the SHA-256 of the public key, as
  // `openssl pkey -pubout -outform DER | sha256sum` shows it.
  std::string fingerprint() const;
  // As JWS has it (RFC 7515): for ES256 two numbers of 32 bytes. Empty: OpenSSL cannot.
  std::string signature(std::string_view text) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
  std::string algorithm_;
};

struct Jwt {
  std::string key_id;                         // empty: none
  std::string issuer, subject, audience, id;  // empty: none
  Pairs more;
  int64_t issued_unix_s = 0, expires_unix_s = 0;
};

// UNAUTHENTICATED: OpenSSL cannot sign.
Result<Wiped> sign_jwt(const SigningKey& key, const Jwt& jwt);

// Whether it has the form of a signed JWT: three parts of letters.
bool is_jwt(std::string_view token);
// The claim `exp`. Nothing: it is no JWT, or has none. The signature is not looked at.
std::optional<int64_t> jwt_expiry_unix_ms(std::string_view token);

}  // namespace davit::cluster_kubernetes
