#include "blob.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_blob {
namespace {

// "A=x,B=y", or "WHERE: MESSAGE".
std::string told_of_blob(std::string_view blob, size_t variables_max = 10) {
  const auto read = read_blob(blob, variables_max);
  if (!read.ok()) {
    EXPECT_EQ(read.error().code, Code::invalid_argument);
    return read.error().where + ": " + read.error().message;
  }
  std::string out;
  for (const Variable& v : *read) out += (out.empty() ? "" : ",") + v.name + "=" + v.ciphertext;
  return out;
}

TEST(Blob, HasCiphertextsByTheNamesOfVariables) {
  EXPECT_EQ(told_of_blob(R"({"secrets":{"B":"y","A":"x"}})"), "B=y,A=x");
  EXPECT_EQ(told_of_blob(R"({ "secrets" : { "\u0041" : "" } })"), "A=");
}

TEST(Blob, WithoutVariablesHasNone) {
  for (const char* blob : {"", "{}", R"({"secrets":{}})", R"({"secrets":null})"})
    EXPECT_EQ(told_of_blob(blob), "") << blob;
}

TEST(Blob, ThatIsNoSecretsConfigIsRefusedWithoutItsCiphertexts) {
  EXPECT_EQ(told_of_blob("zzzz"), ": the blob is not JSON: syntax error");
  EXPECT_EQ(told_of_blob(R"({"secrets":{"A":"zzzz"})"), ": the blob is not JSON: incomplete JSON");
  EXPECT_EQ(told_of_blob("[]"), ": the blob is not a JSON object");
  EXPECT_EQ(told_of_blob(R"({"secrets":{"A":"zzzz"},"more":1})"),
            "more: is not known here (known: secrets)");
  EXPECT_EQ(told_of_blob(R"({"secrets":["zzzz"]})"), "secrets: must be an object, not a list");
  EXPECT_EQ(told_of_blob(R"({"secrets":{"A":7}})"), "secrets.A: must be a string, not a number");
  EXPECT_EQ(told_of_blob(R"({"secrets":{"A":null}})"), "secrets.A: must be a string");
  EXPECT_EQ(told_of_blob(std::string(100, '[')).substr(0, 22), ": the blob is not JSON");
  EXPECT_EQ(told_of_blob("{\"secrets\":{\"A\":\"\xff\"}}").substr(0, 22), ": the blob is not JSON");
}

TEST(Blob, HasSoManyVariables) {
  const std::string_view two = R"({"secrets":{"A":"x","B":"y"}})";
  EXPECT_EQ(told_of_blob(two, 2), "A=x,B=y");
  EXPECT_EQ(told_of_blob(two, 1), "secrets: has 2 variables; variables_max is 1");
}

}  // namespace
}  // namespace davit::secrets_blob
