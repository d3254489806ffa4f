// JWTs: what is signed, with which keys, and when one ends.
#include "jwt.hpp"

#include <gtest/gtest.h>

#include "keys.hpp"

namespace davit::cluster_kubernetes {
namespace {

Jwt robot() {
  Jwt out;
  out.issuer = "robot-17";
  out.subject = "robot \"17\"";
  out.audience = "https://cloud.example/token";
  out.id = "1";
  out.key_id = "k-1";
  out.more = {{"prn", "robot-17"}};
  out.issued_unix_s = 1'000;
  out.expires_unix_s = 1'900;
  return out;
}

TEST(Jwt, IsSignedWithTheKeyAndHasTheClaims) {
  const std::pair<const char*, KeyPair> rows[] = {{"RS256", rsa_key()}, {"ES256", ec_key()}};
  for (const auto& [algorithm, pair] : rows) {
    const auto key = SigningKey::read(pem_of(pair), algorithm);
    ASSERT_TRUE(key.ok()) << key.error().message;
    // Many, for the numbers of ES256 are short now and then.
    for (int i = 0; i < 300; i += algorithm[0] == 'R' ? 100 : 1) {
      const auto made = sign_jwt(*key, robot());
      ASSERT_TRUE(made.ok());
      const std::string text(made->view());
      EXPECT_EQ(claims_signed_by(pair, text),
                R"({"prn":"robot-17","iss":"robot-17","sub":"robot \"17\"",)"
                R"("aud":"https://cloud.example/token","jti":"1","iat":1000,"exp":1900})");
      EXPECT_EQ(from_base64(text.substr(0, text.find('.'))),
                std::string("{\"alg\":\"") + algorithm + R"(","typ":"JWT","kid":"k-1"})");
      EXPECT_TRUE(is_jwt(text));
      EXPECT_EQ(jwt_expiry_unix_ms(text), 1'900'000);
      EXPECT_EQ(claims_signed_by(algorithm[0] == 'R' ? rsa_key() : ec_key(), text), "");
    }
  }
}

TEST(Jwt, AKeyThatCannotBeUsedIsSaid) {
  const std::string rsa = pem_of(rsa_key());
  const struct {
    std::string pem, algorithm, says;
  } rows[] = {
      {"", "RS256", "it has no private key in PEM"},
      {"secret!", "RS256", "it has no private key in PEM"},
      {rsa.substr(0, rsa.size() / 2), "RS256", "it has no private key in PEM"},
      {pem_of(rsa_key(), "x"), "RS256", "it needs a password, which nobody can type: take it off"},
      {rsa, "ES256", "it has an RSA key, and jwt_algorithm is ES256"},
      {pem_of(ec_key()), "RS256", "it has an EC key, and jwt_algorithm is RS256"},
      {pem_of(rsa_key(1'024)), "RS256", "its RSA key has 1024 bits, and RS256 needs 2048"},
      {pem_of(ec_key("P-384")), "ES256", "its key is not of the curve P-256, which ES256 needs"},
  };
  for (const auto& row : rows) {
    const auto key = SigningKey::read(row.pem, row.algorithm);
    ASSERT_FALSE(key.ok()) << row.says;
    EXPECT_EQ(key.error().message, row.says);
  }
}

TEST(Jwt, TheFingerprintIsThatOfThePublicKey) {
  // openssl pkey -pubout -outform DER | sha256sum
  const auto known = SigningKey::read(R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgchXzBHknv1AD+tgV
nkY4Bx6A/fLevMe02CL3o5nAQ5ahRANCAAQidTgWi7jvm1CvVIy/NFBcB1D8aJN5
WczTJuDqJD5KSIBdDESXGGJa4pYpBNFBQFrZUm0/YcES3jTIXv6uTKqf
-----END PRIVATE KEY-----)",
                                      "ES256");
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->fingerprint(), "418d005090d4f2e2");
  const KeyPair pair = ec_key();
  const auto one = SigningKey::read(pem_of(pair), "ES256");
  const auto same = SigningKey::read(pem_of(pair), "ES256");
  const auto other = SigningKey::read(pem_of(ec_key()), "ES256");
  ASSERT_TRUE(one.ok() && same.ok() && other.ok());
  EXPECT_EQ(one->fingerprint(), same->fingerprint());
  EXPECT_NE(one->fingerprint(), other->fingerprint());
}

std::string with_claims(const std::string& claims) {
  return base64("{}").substr(0, 3) + "." + [&] {
    std::string out = base64(claims);
    while (out.ends_with('=')) out.pop_back();
    return out;
  }() + ".c2ln";
}

TEST(Jwt, WhenItEndsIsReadFromWhatOthersSign) {
  EXPECT_EQ(jwt_expiry_unix_ms(with_claims(R"({"exp":1764000000})")), 1'764'000'000'000);
  EXPECT_EQ(jwt_expiry_unix_ms(with_claims(R"({"exp":1764000000.5})")), 1'764'000'000'500);
  for (const char* claims : {R"({})", R"({"exp":"soon"})", R"({"exp":-1})", R"({"exp":1e300})",
                             "[]", "rubbish", R"({"exp":null})"})
    EXPECT_EQ(jwt_expiry_unix_ms(with_claims(claims)), std::nullopt) << claims;
  for (const char* text : {"", ".", "..", "a.b", "a.b.c.d", "ya29.token", "<html>.a.b", "a.!.c"})
    EXPECT_EQ(jwt_expiry_unix_ms(text), std::nullopt) << text;
}

}  // namespace
}  // namespace davit::cluster_kubernetes
