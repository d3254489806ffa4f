#include "jwt.hpp"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <array>
#include <boost/json.hpp>

#include <davit/base64.hpp>

#include "percent.hpp"

namespace davit::cluster_kubernetes {
namespace {

constexpr int rsa_bits_least = 2'048;  // RFC 7518, 3.3
constexpr int p256_bits = 256;

Error unusable_key(std::string message) {
  ERR_clear_error();
  return {Code::failed_precondition, std::move(message)};
}

// OpenSSL would ask at the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

// The alphabet of JWTs, without padding (RFC 7515, 2).
std::string base64url(std::string_view bytes) {
  std::string out = base64(bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

// OpenSSL's signature is DER; JWS has the two numbers as 32 bytes each.
std::string two_numbers(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> signature(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), &ECDSA_SIG_free);
  if (!signature) return {};
  constexpr int bytes = p256_bits / 8;
  std::string out(size_t{2} * bytes, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  const bool fits = BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), to, bytes) == bytes &&
                    BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), to + bytes, bytes) == bytes;
  return fits ? out : std::string();
}

std::array<std::string_view, 3> parts_of(std::string_view token) {
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  return {token.substr(0, first), token.substr(first + 1, second - first - 1),
          token.substr(second + 1)};
}

}  // namespace

Result<SigningKey> SigningKey::read(std::string_view pem, const std::string& algorithm) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  SigningKey out;
  out.algorithm_ = algorithm;
  out.key_ = {PEM_read_bio_PrivateKey(text.get(), nullptr, &no_password, nullptr), &EVP_PKEY_free};
  if (!out.key_) {
    if (pem.find("ENCRYPTED") != std::string_view::npos)
      return unusable_key("it needs a password, which nobody can type: take it off");
    return unusable_key("it has no private key in PEM");
  }
  const EVP_PKEY* key = out.key_.get();
  const int type = EVP_PKEY_get_base_id(key), bits = EVP_PKEY_get_bits(key);
  if (type != EVP_PKEY_RSA && type != EVP_PKEY_EC)
    return unusable_key("it has neither an RSA nor an EC key");
  if ((type == EVP_PKEY_RSA) != (algorithm == "RS256"))
    return unusable_key(std::string("it has ") + (type == EVP_PKEY_RSA ? "an RSA" : "an EC") +
                        " key, and jwt_algorithm is " + algorithm);
  if (type == EVP_PKEY_RSA && bits < rsa_bits_least)
    return unusable_key("its RSA key has " + std::to_string(bits) + " bits, and RS256 needs 2048");
  char curve[32] = "";
  size_t length = 0;
  if (type == EVP_PKEY_EC && (EVP_PKEY_get_group_name(key, curve, sizeof curve, &length) != 1 ||
                              std::string_view(curve, length) != "prime256v1"))
    return unusable_key("its key is not of the curve P-256, which ES256 needs");
  return out;
}

std::string SigningKey::fingerprint() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  if (size <= 0) return {};
  std::array<unsigned char, SHA256_DIGEST_LENGTH> sum{};
  SHA256(der, static_cast<size_t>(size), sum.data());
  OPENSSL_free(der);
  static constexpr char hex[] = "0123456789abcdef";
  constexpr size_t shown = 8;  // bytes: enough to tell the keys of a fleet apart
  std::string out;
  for (size_t i = 0; i < shown; ++i) out += {hex[sum[i] >> 4], hex[sum[i] & 15]};
  return out;
}

std::string SigningKey::signature(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  std::string out;
  bool good = digest &&
              EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(digest.get(), nullptr, &size, bytes, text.size()) == 1;
  if (good) {
    out.resize(size);
    good = EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes,
                          text.size()) == 1;
    out.resize(size);
  }
  ERR_clear_error();
  if (!good) return {};
  return algorithm_ == "ES256" ? two_numbers(out) : out;
}

Result<Wiped> sign_jwt(const SigningKey& key, const Jwt& jwt) {
  boost::json::object header{{"alg", key.algorithm()}, {"typ", "JWT"}};
  if (!jwt.key_id.empty()) header["kid"] = jwt.key_id;
  boost::json::object claims;
  for (const auto& [name, value] : jwt.more) claims[name] = value;
  const std::pair<const char*, const std::string&> texts[] = {
      {"iss", jwt.issuer}, {"sub", jwt.subject}, {"aud", jwt.audience}, {"jti", jwt.id}};
  for (const auto& [name, value] : texts)
    if (!value.empty()) claims[name] = value;
  claims["iat"] = jwt.issued_unix_s;
  claims["exp"] = jwt.expires_unix_s;
  Wiped out(base64url(boost::json::serialize(header)));
  out.append(".");
  out.append(base64url(boost::json::serialize(claims)));
  std::string signature = key.signature(out.view());
  if (signature.empty()) return Error{Code::unauthenticated, "OpenSSL cannot sign with the key"};
  // Without the signature the rest is worth nothing, so it alone is overwritten.
  std::string letters = base64url(signature);
  out.append(".");
  out.append(letters);
  for (std::string* copy : {&signature, &letters}) explicit_bzero(copy->data(), copy->size());
  return out;
}

bool is_jwt(std::string_view token) {
  const auto parts = parts_of(token);
  for (const auto part : parts) {
    if (part.empty()) return false;
    for (const char c : part) {
      if (!is_alphanumeric(c) && c != '-' && c != '_') return false;
    }
  }
  return true;
}

std::optional<int64_t> jwt_expiry_unix_ms(std::string_view token) {
  if (!is_jwt(token)) return std::nullopt;
  const auto text = from_base64(parts_of(token)[1]);
  if (!text) return std::nullopt;
  boost::system::error_code bad;
  const auto value = boost::json::parse(*text, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const auto* exp = value.get_object().if_contains("exp");
  if (exp == nullptr || !exp->is_number()) return std::nullopt;
  const double seconds = exp->to_number<double>(bad);
  constexpr double seconds_max = 253'402'300'800;  // the year 10000
  if (bad || !(seconds >= 0 && seconds < seconds_max)) return std::nullopt;
  return static_cast<int64_t>(seconds * 1000);
}

}  // namespace davit::cluster_kubernetes
