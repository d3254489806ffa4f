#include "request.hpp"

#include <gtest/gtest.h>

#include "krane/v1/secrets.pb.h"

namespace davit::secrets_blob {
namespace {

krane::v1::DecryptSecretsBlobRequest good() {
  krane::v1::DecryptSecretsBlobRequest out;
  out.set_encrypted_blob("{}");
  out.set_environment_id("env_1");
  out.set_deployment_id("d_1");
  out.set_token("a.b.c");
  return out;
}
BlobSettings limits() {
  BlobSettings out;
  out.blob_bytes_max = 10;
  out.token_bytes_max = 8;
  return out;
}
std::string told_of_request(const std::string& bytes) {
  const auto r = read_request(bytes, limits());
  if (!r.ok()) {
    return (r.error().code == Code::unauthenticated ? "refused: " : "wrong: ") + r.error().message;
  }
  return r->blob + " " + r->claim.environment_id + " " + r->claim.deployment_id + " " +
         std::string(r->token.view());
}
std::string told_with_request(
    const std::function<void(krane::v1::DecryptSecretsBlobRequest&)>& change) {
  auto message = good();
  change(message);
  return told_of_request(message.SerializeAsString());
}

TEST(Request, HasABlobAClaimAndAToken) {
  EXPECT_EQ(told_of_request(good().SerializeAsString()), "{} env_1 d_1 a.b.c");
}

TEST(Request, ThatIsTooLargeIsWrong) {
  EXPECT_EQ(told_with_request([](auto& m) { m.set_encrypted_blob(std::string(10, 'x')); }),
            "xxxxxxxxxx env_1 d_1 a.b.c");
  EXPECT_EQ(told_with_request([](auto& m) { m.set_encrypted_blob(std::string(11, 'x')); }),
            "wrong: encrypted_blob has more than 10 bytes");
  EXPECT_EQ(told_with_request([](auto& m) { m.set_token(std::string(9, 't')); }),
            "wrong: token has more than 8 bytes");
}

TEST(Request, ThatNoPodCanProveIsRefused) {
  const std::string deployment = "refused: no pod has a label with such a deployment_id";
  const std::string environment = "refused: no pod has a label with such an environment_id";
  const std::string token = "refused: the token has not the form of one";
  EXPECT_EQ(told_of_request(""), deployment);
  EXPECT_EQ(told_with_request([](auto& m) { m.clear_deployment_id(); }), deployment);
  EXPECT_EQ(told_with_request([](auto& m) { m.set_deployment_id("d 1"); }), deployment);
  EXPECT_EQ(told_with_request([](auto& m) { m.set_deployment_id(std::string(64, 'd')); }),
            deployment);
  EXPECT_EQ(told_with_request([](auto& m) { m.clear_environment_id(); }), environment);
  EXPECT_EQ(told_with_request([](auto& m) { m.set_environment_id("../x"); }), environment);
  EXPECT_EQ(told_with_request([](auto& m) { m.clear_token(); }), token);
  EXPECT_EQ(told_with_request([](auto& m) { m.set_token("\"},{"); }), token);
}

TEST(Request, ThatIsNoMessageIsWrong) {
  const std::string no = "wrong: the request cannot be decoded";
  using std::string_literals::operator""s;
  for (const std::string& bytes :
       {"\x0a"s, "\x0a\x7f"s, "\x0a\xff"s, "\x00\x01"s, "\x0b"s, "\x0c"s, "\x0f"s, "\x09\x01"s,
        "\x0d\x01"s, "\x08"s, std::string(11, '\xff'), "\x0a" + std::string(9, '\xff') + "\x01"})
    EXPECT_EQ(told_of_request(bytes), no) << ::testing::PrintToString(bytes);
}

TEST(Request, FieldsOfLaterVersionsArePassedOver) {
  const std::string later(
      "\x78\x05\x79"
      "12345678"
      "\x7d"
      "1234"
      "\x7a\x01x\x08\x01",
      21);
  EXPECT_EQ(told_of_request(later + good().SerializeAsString() + later), "{} env_1 d_1 a.b.c");
}

TEST(Request, OfAFieldThatIsThereTwiceTheLastCounts) {
  auto other = good();
  other.set_token("other");
  EXPECT_EQ(told_of_request(other.SerializeAsString() + good().SerializeAsString()),
            "{} env_1 d_1 a.b.c");
}

TEST(Request, CutAnywhereIsNeverTakenForAnother) {
  const std::string whole = good().SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string told = told_of_request(whole.substr(0, size));
    EXPECT_TRUE(told.starts_with("wrong: ") || told.starts_with("refused: ")) << told;
  }
}

}  // namespace
}  // namespace davit::secrets_blob
