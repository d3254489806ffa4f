// What each answer means.
#include "outcome.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_vault {
namespace {

using Meaning = Outcome::Meaning;

http::Response answer_of(int status, const std::string& type, const std::string& text) {
  http::Response out;
  out.status = status;
  if (!type.empty()) out.headers.emplace_back("content-type", type);
  out.body.append(text);
  return out;
}

struct Row {
  const char* name;
  int status;
  const char *type, *body;
  Meaning meaning;
  Code of_call, of_item;
  bool fails;
};

constexpr const char* json_type = "application/json";

TEST(Outcome, OfAnErrorOfConnectIsItsCode) {
  for (const Row& row : {
           Row{"internal", 500, json_type, "{}", Meaning::refused, Code::internal,
               Code::invalid_argument, false},
           Row{"unknown", 500, json_type, "{}", Meaning::refused, Code::unknown,
               Code::invalid_argument, false},
           Row{"invalid_argument", 400, json_type, "{}", Meaning::refused, Code::invalid_argument,
               Code::invalid_argument, false},
           Row{"not_found", 404, json_type, "{}", Meaning::refused, Code::not_found,
               Code::not_found, false},
           Row{"permission_denied", 403, json_type, "{}", Meaning::group, Code::permission_denied,
               Code::permission_denied, false},
           Row{"unauthenticated", 401, json_type, "{}", Meaning::everything, Code::unauthenticated,
               Code::unauthenticated, false},
           Row{"unavailable", 503, json_type, "{}", Meaning::later, Code::unavailable,
               Code::unavailable, true},
           Row{"resource_exhausted", 429, json_type, "{}", Meaning::later, Code::resource_exhausted,
               Code::unavailable, true},
           Row{"aborted", 409, json_type, "{}", Meaning::later, Code::aborted, Code::unavailable,
               true},
           Row{"deadline_exceeded", 504, json_type, "{}", Meaning::later, Code::deadline_exceeded,
               Code::unavailable, true},
           Row{"canceled", 499, json_type, "{}", Meaning::later, Code::cancelled, Code::unavailable,
               true},
           Row{"unimplemented", 501, json_type, "{}", Meaning::everything, Code::unimplemented,
               Code::unavailable, true},
       }) {
    const std::string body = std::string(R"({"code":")") + row.name + R"(","message":"hidden"})";
    const Outcome out = outcome_of(answer_of(row.status, row.type, body), 1, 1);
    EXPECT_EQ(out.meaning, row.meaning) << row.name;
    EXPECT_EQ(out.code, row.of_call) << row.name;
    EXPECT_EQ(out.error.code, row.of_item) << row.name;
    EXPECT_EQ(out.peer == Outcome::Peer::fails, row.fails) << row.name;
    EXPECT_EQ(out.error.message.find("hidden"), std::string::npos) << row.name;
    EXPECT_EQ(out.certain, row.meaning == Meaning::refused && row.of_item == row.of_call)
        << row.name;
  }
}

TEST(Outcome, OfAnyOtherAnswerIsItsStatus) {
  for (const Row& row : {
           Row{"", 400, "", "", Meaning::everything, Code::internal, Code::unavailable, true},
           Row{"", 401, "", "", Meaning::everything, Code::unauthenticated, Code::unauthenticated,
               false},
           Row{"", 403, "", "", Meaning::everything, Code::permission_denied,
               Code::permission_denied, false},
           Row{"", 404, "", "", Meaning::everything, Code::unimplemented, Code::unavailable, true},
           Row{"", 413, "", "", Meaning::everything, Code::unknown, Code::unavailable, true},
           Row{"", 429, "", "", Meaning::later, Code::unavailable, Code::unavailable, true},
           Row{"", 500, "text/html", R"({"code":"internal"})", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 500, json_type, R"({"code":"no such code"})", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 500, json_type, R"({"code":13})", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 500, json_type, R"(["code"])", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 500, json_type, "{\"code\":", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 503, "text/html", "<html>", Meaning::later, Code::unavailable, Code::unavailable,
               true},
           Row{"", 200, "text/html", "<html>", Meaning::everything, Code::unknown,
               Code::unavailable, true},
           Row{"", 200, json_type, "{}", Meaning::everything, Code::unknown, Code::unavailable,
               true},
           Row{"", 200, "", "", Meaning::everything, Code::unknown, Code::unavailable, true},
           Row{"", 204, "application/proto", "", Meaning::everything, Code::unknown,
               Code::unavailable, true},
       }) {
    const Outcome out = outcome_of(answer_of(row.status, row.type, row.body), 1, 1);
    EXPECT_EQ(out.meaning, row.meaning) << row.status << row.body;
    EXPECT_EQ(out.code, row.of_call) << row.status << row.body;
    EXPECT_EQ(out.error.code, row.of_item) << row.status << row.body;
    EXPECT_EQ(out.peer == Outcome::Peer::fails, row.fails) << row.status << row.body;
  }
}

TEST(Outcome, AnErrorOfConnectMayHaveMoreInIt) {
  const std::string body =
      R"({"message":"m","details":[{"type":"a.B","value":"AA"}],"code":"not_found"})";
  EXPECT_EQ(outcome_of(answer_of(404, "Application/JSON; charset=utf-8", body), 1, 1).code,
            Code::not_found);
}

TEST(Outcome, AnErrorOfConnectThatIsTooLongOrTooDeepIsNone) {
  const std::string long_one =
      R"({"code":"not_found","message":")" + std::string(20'000, 'x') + "\"}";
  const std::string deep_one = R"({"code":"not_found","details":)" + std::string(1'000, '[');
  std::string wide_one = R"({"code":"not_found","details":[)";
  while (wide_one.size() < 16'000) wide_one += "[],";
  wide_one += "[]]}";
  for (const auto& body : {long_one, deep_one, wide_one}) {
    const Outcome out = outcome_of(answer_of(404, json_type, body), 1, 1);
    EXPECT_TRUE(out.code == Code::unimplemented || out.code == Code::not_found);
  }
}

TEST(Outcome, ACompressedAnswerWasNotAskedFor) {
  auto response = answer_of(200, "application/proto", "");
  response.headers.emplace_back("content-encoding", "gzip");
  EXPECT_EQ(outcome_of(response, 1, 1).peer, Outcome::Peer::fails);
}

TEST(Outcome, RetryAfterIsHandedOn) {
  auto response = answer_of(503, json_type, R"({"code":"unavailable"})");
  response.retry_after = std::chrono::seconds(7);
  EXPECT_EQ(outcome_of(response, 1, 1).error.retry_after, std::chrono::seconds(7));
}

TEST(Outcome, OfARequestWithoutAnAnswerIsWhyThereIsNone) {
  EXPECT_EQ(outcome_of(Error{Code::unavailable, "x"}).meaning, Meaning::later);
  EXPECT_EQ(outcome_of(Error{Code::cancelled, "x"}).meaning, Meaning::over);
  EXPECT_EQ(outcome_of(Error{Code::deadline_exceeded, "x"}).meaning, Meaning::over);
  const Outcome files = outcome_of(Error{Code::failed_precondition, "x"});
  EXPECT_EQ(files.meaning, Meaning::everything);
  EXPECT_EQ(files.error.code, Code::unavailable) << "files can be mended";
  EXPECT_EQ(files.peer, Outcome::Peer::unknown);
}

}  // namespace
}  // namespace davit::secrets_vault
