// What each answer of the API means.
#include "answer.hpp"

#include <gtest/gtest.h>

#include "secret_store/wiped_base64.hpp"

namespace davit::secrets_transit {
namespace {

using Meaning = Outcome::Meaning;
using Peer = Outcome::Peer;

http::Response answer(int status, std::string_view body) {
  http::Response out;
  out.status = status;
  out.body.append(body);
  return out;
}
std::string value(const Outcome& out, size_t n) {
  if (n < out.values.size() && out.values[n]) return std::string(out.values[n]->view());
  const auto error = out.errors.find(n);
  return error == out.errors.end() ? "-" : std::to_string(static_cast<int>(error->second.code));
}

TEST(Answer, OfABatchHasAResultForEachItem) {
  constexpr const char* body = R"({"data":{"batch_results":[
    {"plaintext":"Zm9v","reference":"2a-0"}, {"error":"cipher: message authentication failed"},
    {"plaintext":""}, {"plaintext":"!"}, {}, {"plaintext":"YmFy","reference":"2b-5"}]}})";
  for (const int status : {200, 400, 500}) {
    const Outcome out = decrypted_of(answer(status, body), 6, 0x2a);
    EXPECT_EQ(out.meaning, Meaning::decrypted);
    EXPECT_EQ(value(out, 0), "foo");
    EXPECT_EQ(value(out, 1), "3");
    EXPECT_EQ(value(out, 2), "");
    EXPECT_EQ(value(out, 3), "13");
    EXPECT_EQ(value(out, 4), "-");
    EXPECT_EQ(value(out, 5), "-") << "it is of another call";
    EXPECT_EQ(out.strangers, 1u);
  }
}

struct Row {
  int status;
  const char* body;
  Meaning meaning;
  Code code;
  Peer peer;
  const char* says;
};

TEST(Answer, WithoutValuesSaysWhoseFaultItIs) {
  for (const Row& row : {
           Row{503, R"({"errors":["Vault is sealed"]})", Meaning::later, Code::unavailable,
               Peer::fails, "sealed"},
           Row{400, R"({"errors":["Vault is sealed"]})", Meaning::later, Code::unavailable,
               Peer::fails, "sealed"},
           Row{503, "busy", Meaning::later, Code::unavailable, Peer::fails, "503"},
           Row{429, R"({"errors":["request path: rate limit quota exceeded"]})", Meaning::later,
               Code::unavailable, Peer::fails, "rate"},
           Row{307, "", Meaning::later, Code::unavailable, Peer::fails, "standby"},
           Row{472, "{}", Meaning::later, Code::unavailable, Peer::fails, "standby"},
           Row{473, "{}", Meaning::later, Code::unavailable, Peer::fails, "standby"},
           Row{412, R"({"errors":["required index state not present"]})", Meaning::later,
               Code::unavailable, Peer::fails, "behind"},
           Row{500, R"({"errors":["internal error"]})", Meaning::later, Code::unavailable,
               Peer::fails, "of its own"},
           Row{403, R"({"errors":["permission denied"]})", Meaning::group, Code::permission_denied,
               Peer::works, "policies"},
           Row{403, "<html>", Meaning::everything, Code::unavailable, Peer::fails, "url"},
           Row{404, R"({"errors":["no handler for route \"x\". route entry not found."]})",
               Meaning::group, Code::unavailable, Peer::works, "transit_mount"},
           Row{400, R"({"errors":["encryption key not found"]})", Meaning::group, Code::not_found,
               Peer::works, "no key"},
           Row{400, R"({"errors":["something else"]})", Meaning::refused, Code::invalid_argument,
               Peer::works, "refuses"},
           Row{200, "<html>", Meaning::everything, Code::unavailable, Peer::fails, "url"},
           Row{200, R"({"data":{"batch_results":[]}})", Meaning::everything, Code::unavailable,
               Peer::fails, "url"},
           Row{200, R"({"data":[1,2]})", Meaning::everything, Code::unavailable, Peer::fails,
               "url"},
           Row{302, "", Meaning::everything, Code::unavailable, Peer::fails, "url"},
       }) {
    SCOPED_TRACE(std::to_string(row.status) + " " + row.body);
    const Outcome out = decrypted_of(answer(row.status, row.body), 2, 1);
    EXPECT_EQ(out.meaning, row.meaning);
    EXPECT_EQ(out.error.code, row.code);
    EXPECT_EQ(out.peer, row.peer);
    EXPECT_NE(out.error.message.find(row.says), std::string::npos) << out.error.message;
  }
}

TEST(Answer, ToAReadHasTheFieldsAndTheVersion) {
  constexpr const char* body =
      R"({"data":{"data":{"a":"x\n\"y\"","b":"","n":5},"metadata":{"version":7}}})";
  const Outcome out = read_of(answer(200, body), {"a", "b", "n", "none", ""});
  EXPECT_EQ(out.meaning, Meaning::decrypted);
  EXPECT_EQ(out.version, "7");
  EXPECT_EQ(value(out, 0), "x\n\"y\"");
  EXPECT_EQ(value(out, 1), "");
  EXPECT_EQ(value(out, 2), "3") << "a number is no text";
  EXPECT_EQ(value(out, 3), "5");
  EXPECT_EQ(value(out, 4), "3") << "there are several";
  const Outcome one =
      read_of(answer(200, R"({"data":{"data":{"a":"x"},"metadata":{"version":1}}})"), {""});
  EXPECT_EQ(value(one, 0), "x");
}

TEST(Answer, ToAReadSaysWhatIsMissing) {
  const auto told = [](int status, const char* body) {
    const Outcome out = read_of(answer(status, body), {"a"});
    EXPECT_EQ(out.meaning, Meaning::group);
    return std::to_string(static_cast<int>(out.error.code)) + ": " + out.error.message;
  };
  EXPECT_EQ(told(404, R"({"errors":[]})"), "5: the vault has no such secret, or not this version");
  EXPECT_EQ(told(404, R"({"data":{"data":null,"metadata":{"destroyed":true}}})"),
            "5: the secret's version was deleted");
  EXPECT_EQ(told(200, R"({"data":{"a":"x"}})"), "3: the engine at kv_mount is no KV of version 2");
  EXPECT_TRUE(told(403, R"({"errors":["permission denied"]})").starts_with("7: "));
}

TEST(Answer, ToALoginGrantsOrSaysWhyNot) {
  const auto granted = granted_by(
      answer(200, R"({"auth":{"client_token":"hvs.x","lease_duration":60,"renewable":true}})"));
  ASSERT_TRUE(granted.ok());
  EXPECT_EQ(granted->token.view(), "hvs.x");
  EXPECT_EQ(granted->lasts.count(), 60);
  EXPECT_TRUE(granted->renewable);
  const auto code = [](int status, const char* body) {
    return granted_by(answer(status, body)).error().code;
  };
  EXPECT_EQ(code(400, R"({"errors":["invalid role or secret ID"]})"), Code::unauthenticated);
  EXPECT_EQ(code(403, R"({"errors":["permission denied"]})"), Code::unauthenticated);
  EXPECT_EQ(code(404, R"({"errors":["no handler for route"]})"), Code::unauthenticated);
  EXPECT_EQ(code(503, R"({"errors":["Vault is sealed"]})"), Code::unavailable);
  EXPECT_EQ(code(500, R"({"errors":["internal error"]})"), Code::unavailable);
  EXPECT_EQ(code(200, R"({"auth":{}})"), Code::unavailable);
  EXPECT_EQ(code(404, "<html>"), Code::unavailable);
}

TEST(WipedBase64, ReadsWhatGoWrites) {
  const auto read = [](std::string_view text) {
    Wiped out;
    return secret_store::append_from_base64(out, text) ? std::string(out.view()) : "no base64";
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("YQ=="), "a");
  EXPECT_EQ(read("YWI="), "ab");
  EXPECT_EQ(read("YWJj"), "abc");
  EXPECT_EQ(read("YWJj+/8A"), std::string("abc\xfb\xff\0", 6));
  for (const char* bad : {"Y", "YQ", "YQ=", "Y===", "====", "Y!==", "YQ==YQ==", "Y-_="})
    EXPECT_EQ(read(bad), "no base64") << bad;
}

}  // namespace
}  // namespace davit::secrets_transit
