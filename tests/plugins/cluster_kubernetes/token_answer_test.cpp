// What is sent to a token server, and what its answers mean.
#include "token_answer.hpp"

#include <gtest/gtest.h>

namespace davit::cluster_kubernetes {
namespace {

constexpr int64_t now = 1'764'000'000'000;  // 2025-11-24T16:00:00Z

http::Response answered(int status, std::string_view body) {
  http::Response out;
  out.status = status;
  out.body = Wiped(body);
  return out;
}

Result<Credential> read(int status, std::string_view body) {
  return read_token_answer(answered(status, body), now, {"s3cret"});
}

TEST(TokenAnswer, TokensOfAllKindsOfServersAreTaken) {
  const struct {
    std::string body, token;
    std::optional<int64_t> lives_ms;
  } rows[] = {
      {R"({"access_token":"abc","token_type":"Bearer","expires_in":3600})", "abc", 3'600'000},
      {R"({"token_type":"bearer","access_token":"a\/b","expires_in":"60","scope":"x"})", "a/b",
       60'000},
      {R"({"access_token":"ya29.x","expires_in":5})", "ya29.x", 5'000},
      {R"({"access_token":"abc"})", "abc", std::nullopt},
      {R"({"access_token":"abc","expires_in":-5})", "abc", std::nullopt},
      {R"({"access_token":"abc","expires_in":"soon"})", "abc", std::nullopt},
      // {"exp":1764000900}
      {"eyJhIjoxfQ.eyJleHAiOjE3NjQwMDA5MDB9.c2ln\n", "eyJhIjoxfQ.eyJleHAiOjE3NjQwMDA5MDB9.c2ln",
       900'000},
      {R"({"access_token":"eyJhIjoxfQ.eyJleHAiOjE3NjQwMDA5MDB9.c2ln"})",
       "eyJhIjoxfQ.eyJleHAiOjE3NjQwMDA5MDB9.c2ln", 900'000},
  };
  for (const auto& row : rows) {
    const auto read_one = read(200, row.body);
    ASSERT_TRUE(read_one.ok()) << read_one.error().message;
    EXPECT_EQ(read_one->token.view(), row.token);
    EXPECT_EQ(read_one->doubt, "");
    EXPECT_EQ(read_one->expires_unix_ms.has_value(), row.lives_ms.has_value()) << row.body;
    if (read_one->expires_unix_ms) {
      EXPECT_EQ(*read_one->expires_unix_ms - now, row.lives_ms.value_or(0)) << row.body;
    }
  }
}

TEST(TokenAnswer, ATokenThatHasEndedIsUsedForAWhileAndTheClockIsDoubted) {
  // {"exp":1763999900}
  const auto ended = read(200, "eyJhIjoxfQ.eyJleHAiOjE3NjM5OTk5MDB9.c2ln");
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->expires_unix_ms, now + 30'000);
  EXPECT_EQ(ended->doubt,
            "the token had ended at 2025-11-24T15:58:20.000Z when the token server gave "
            "it: is the clock of this machine right?");
}

TEST(TokenAnswer, WhatIsNoTokenIsSaidWithTheServersWords) {
  const struct {
    int status;
    std::string body;
    Code code;
    std::string says;
  } rows[] = {
      {401, R"({"error":"invalid_client","error_description":"key \u001b[31mrevoked"})",
       Code::unauthenticated, "the server refuses: 401 invalid_client: key revoked"},
      {400, R"({"error":"invalid_grant"})", Code::unauthenticated,
       "the server refuses: 400 invalid_grant"},
      {403, "<html>", Code::unauthenticated, "the server refuses: 403"},
      {400, R"({"error":"invalid_client","error_description":"no client with s3cret"})",
       Code::unauthenticated, "the server refuses: 400 invalid_client"},
      {400, R"({"error":"invalid_grant","error_description":"bad assertion eyJhbGciOi.e30.x"})",
       Code::unauthenticated, "the server refuses: 400 invalid_grant"},
      {400, R"({"error":"invalid_client","error_description":"s3\u001b[1mcret"})",
       Code::unauthenticated, "the server refuses: 400 invalid_client"},
      {400, R"({"error":"e\u001b[0myJhbGciOi"})", Code::unauthenticated, "the server refuses: 400"},
      {302, "", Code::unauthenticated,
       "the server answers 302, a redirection, which is not followed: is `url` right?"},
      {404, "", Code::unauthenticated, "the server answers 404: is `url` right?"},
      {503, "", Code::unavailable, "the server answers 503: try again later"},
      {429, "", Code::unavailable, "the server answers 429: try again later"},
      {500, R"({"error":"server_error"})", Code::unavailable,
       "the server answers 500 server_error: try again later"},
      {200, "<html>hello</html>", Code::unauthenticated,
       "the server answers with neither JSON nor a JWT: is `url` right?"},
      {200, "", Code::unauthenticated,
       "the server answers with neither JSON nor a JWT: is `url` right?"},
      {200, "{\"access_token\":\"ab", Code::unauthenticated,
       "the server answers with neither JSON nor a JWT: is `url` right?"},
      {200, R"({"id_token":"abc"})", Code::unauthenticated,
       "the server answers with JSON that has no access_token: is `url` right?"},
      {200, R"({"access_token":7})", Code::unauthenticated,
       "the server answers with JSON that has no access_token: is `url` right?"},
      {200, R"({"access_token":"a\r\nX: y"})", Code::unauthenticated,
       "the server gives a token with characters that no token has"},
      {200, R"({"access_token":"abc","token_type":"mac"})", Code::unauthenticated,
       "the server gives a token of the type \"mac\", and an API server takes Bearer only"},
      {200, R"({"access_token":"abc","token_type":"s3cret"})", Code::unauthenticated,
       "the server gives a token of another type, and an API server takes Bearer only"},
  };
  for (const auto& row : rows) {
    const auto read_one = read(row.status, row.body);
    ASSERT_FALSE(read_one.ok()) << row.says;
    EXPECT_EQ(read_one.error().message, row.says);
    EXPECT_EQ(read_one.error().code, row.code) << row.says;
  }
}

TEST(TokenAnswer, LongWordsOfAServerAreCut) {
  const auto refused =
      read(400, R"({"error":"e","error_description":")" + std::string(100'000, 'x') + "\"}");
  EXPECT_LT(refused.error().message.size(), 400u);
}

TEST(TokenAnswer, RetryAfterIsHonoured) {
  http::Response busy = answered(503, "");
  busy.retry_after = std::chrono::seconds(90);
  EXPECT_EQ(read_token_answer(busy, now, {}).error().retry_after, std::chrono::seconds(90));
}

TEST(TokenAnswer, FormsAndCredentialsAreEscaped) {
  Wiped form;
  append_form(form, "scope", "a b&c=d");
  append_form(form, "x", "\xc3\xa4/~");
  EXPECT_EQ(form.view(), "scope=a%20b%26c%3Dd&x=%C3%A4%2F~");
  // "robot%3A1:p%25"
  EXPECT_EQ(basic_authorization("robot:1", "p%").view(), "Basic cm9ib3QlM0ExOnAlMjU=");
}

TEST(TokenAnswer, ATokenIsRenewedBeforeItEnds) {
  const auto before = std::chrono::seconds(60);
  EXPECT_EQ(renewal_unix_ms(0, 900'000, before), 840'000);
  EXPECT_EQ(renewal_unix_ms(0, 4'000, before), 3'000) << "a short one is used for most of its life";
  EXPECT_EQ(renewal_unix_ms(10'000, 4'000, before), 4'000);
}

TEST(TokenAnswer, TheClockIsComparedWithTheServers) {
  EXPECT_EQ(clock_difference("Mon, 24 Nov 2025 16:00:00 GMT", now), "");
  EXPECT_EQ(clock_difference("Mon, 24 Nov 2025 16:00:59 GMT", now), "");
  EXPECT_EQ(clock_difference("Mon, 24 Nov 2025 16:01:30 GMT", now),
            "the clock of this machine is 1 minute behind the server's");
  EXPECT_EQ(clock_difference("Mon, 24 Nov 2025 13:00:00 GMT", now),
            "the clock of this machine is 3 hours ahead of the server's");
  EXPECT_EQ(clock_difference("Mon, 24 Nov 2025 16:00:00 GMT", 0),
            "the clock of this machine is 20416 days behind the server's");
  for (const char* text : {"", "now", "Mon, 24 Nov 2025", "Mon, 24 Nov 2025 16:00:00 GMT+1"})
    EXPECT_EQ(clock_difference(text, 0), "") << text;
}

}  // namespace
}  // namespace davit::cluster_kubernetes
