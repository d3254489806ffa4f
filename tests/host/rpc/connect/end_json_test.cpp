#include "rpc/connect/end_json.hpp"

#include <gtest/gtest.h>

#include <davit/utf8.hpp>

namespace davit::host {
namespace {

// "unavailable|busy|retry-after-ms=1000": an end in one line.
std::string shown(const End& end) {
  std::string out = std::to_string(static_cast<int>(end.code)) + "|" + end.message;
  for (const auto& [key, value] : end.trailers) out += "|" + key + "=" + value;
  return out;
}

TEST(ErrorJson, SaysCodeAndMessage) {
  EXPECT_EQ(error_json({Code::not_found, "no such record"}),
            R"({"code":"not_found","message":"no such record"})");
  EXPECT_EQ(error_json({Code::cancelled, ""}), R"({"code":"canceled"})");
  EXPECT_EQ(error_json({Code::internal, "a\"b\\c\n\x01"}),
            R"({"code":"internal","message":"a\"b\\c\n\u0001"})");
}

TEST(ErrorJson, NeverNamesWhatIsNoError) {
  for (const int code : {0, 17, -1}) {
    EXPECT_EQ(error_json({static_cast<Code>(code), ""}), R"({"code":"unknown"})") << code;
  }
}

TEST(ErrorJson, IsUtf8WhateverTheMessageIs) {
  const std::pair<std::string, std::string> table[] = {
      {"gr\xc3\xb6\xc3\x9f"
       "e",
       "gr\xc3\xb6\xc3\x9f"
       "e"},
      {"a\xff"
       "b",
       "a\xef\xbf\xbd"
       "b"},
      {"\xc3", "\xef\xbf\xbd"},                                  // cut within a character
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // longer than need be
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // half of a pair
      {"\xf0\x9f\x98\x80!\x80", "\xf0\x9f\x98\x80!\xef\xbf\xbd"},
  };
  for (const auto& [sent, expected] : table) {
    const std::string body = error_json({Code::aborted, sent});
    EXPECT_TRUE(valid_utf8(body));
    EXPECT_EQ(read_error_json(409, body).message, expected);
  }
}

struct Answer {
  int status;
  std::string body, expected;
};

TEST(ReadErrorJson, TakesTheCodeFromTheBody) {
  const Answer table[] = {
      {404, R"({"code":"not_found","message":"gone"})", "5|gone"},
      {503, R"({"message":"gone","code":"not_found"})", "5|gone"},
      {500, R"({"code":"canceled"})", "1|"},
      {500, R"({"code":"unavailable","message":null})", "14|"},
      {500, R"({"code":"unavailable","details":[{"type":"a.B","value":"CgIIPA"}],"x":{}})", "14|"},
      {500, R"({"code":"unknown","code":"aborted"})", "10|"},
      {500, " \n{ \"code\" : \"aborted\" }\r\n", "10|"},
      {500, "{\"code\":\"\\u0061borted\",\"message\":\"\\u00e9\"}", "10|\xc3\xa9"},
  };
  for (const auto& [status, body, expected] : table) {
    EXPECT_EQ(shown(read_error_json(status, body)), expected) << body;
  }
}

TEST(ReadErrorJson, LeavesWhatTheStatusSaysOfABodyThatIsNoError) {
  for (const std::string& body : {std::string(),
                                  std::string("<html>502</html>"),
                                  std::string("null"),
                                  std::string("[]"),
                                  std::string("\"code\""),
                                  std::string("{"),
                                  std::string("{}"),
                                  std::string("{}{}"),
                                  std::string("{} x"),
                                  std::string(R"({"code":null})"),
                                  std::string(R"({"code":5})"),
                                  std::string(R"({"code":"ok"})"),
                                  std::string(R"({"code":"NOT_FOUND"})"),
                                  std::string(R"({"code":""})"),
                                  std::string(R"({"code":["not_found"]})"),
                                  std::string(R"({"code":"not_found","message":5})"),
                                  std::string(R"({"code":5,"message":"x"})"),
                                  std::string(R"({'code':'not_found'})"),
                                  std::string("{\"code\":\"not_found\",\"message\":\"\xff\"}"),
                                  std::string(R"({"code":"not_found",})"),
                                  std::string("\xef\xbb\xbf{}"),
                                  std::string(R"({"code":"not_found","message":"\ud800"})"),
                                  std::string(10'000, '['),
                                  std::string("{\"code\":\"not_found\"}\0", 21)}) {
    EXPECT_EQ(shown(read_error_json(502, body)), "14|HTTP status 502") << body;
    EXPECT_EQ(shown(read_error_json(404, body)), "12|HTTP status 404") << body;
  }
}

TEST(ReadErrorJson, KeepsTheWordsOfAnErrorWithoutACode) {
  EXPECT_EQ(shown(read_error_json(503, R"({"message":"overloaded"})")), "14|overloaded");
  EXPECT_EQ(shown(read_error_json(401, R"({"code":"new_code","message":"x"})")), "16|x");
}

TEST(ReadErrorJson, ABodyOfMoreThanAMebibyteIsNone) {
  const std::string begin = R"({"code":"aborted","message":")", end = "\"}";
  const size_t room = (1 << 20) - begin.size() - end.size();
  EXPECT_EQ(read_error_json(500, begin + std::string(room, 'x') + end).code, Code::aborted);
  EXPECT_EQ(shown(read_error_json(500, begin + std::string(room + 1, 'x') + end)),
            "2|HTTP status 500");
}

TEST(EndOfStream, IsWrittenAsTheProtocolHasIt) {
  EXPECT_EQ(end_of_stream_json({}), "{}");
  EXPECT_EQ(end_of_stream_json({Code::unavailable, "busy", {{"retry-after-ms", "1000"}}}),
            R"({"error":{"code":"unavailable","message":"busy"},)"
            R"("metadata":{"retry-after-ms":["1000"]}})");
  EXPECT_EQ(end_of_stream_json({Code::ok, "ignored", {{"a", "1"}, {"b", "2"}, {"a", "3"}}}),
            R"({"metadata":{"a":["1","3"],"b":["2"]}})");
}

TEST(EndOfStream, CarriesBytesAsBase64AndLeavesOutWhatIsNoHeader) {
  EXPECT_EQ(end_of_stream_json({Code::ok, "", {{"x-bin", "\xff"}, {"A", "1"}, {"b", "\n"}}}),
            R"({"metadata":{"x-bin":["/w"]}})");
}

TEST(EndOfStream, ComesBackAsItWas) {
  const End ends[] = {
      {},
      {Code::ok, "", {{"a", "1"}, {"a", "2"}, {"b", ""}}},
      {Code::cancelled, ""},
      {Code::unauthenticated,
       "who \"are\" you?\n\xe2\x82\xac",
       {{"x-bin", std::string("\0,\xff", 3)}}},
  };
  for (const End& end : ends) {
    const auto back = read_end_of_stream(end_of_stream_json(end));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(shown(*back), shown(end));
  }
}

TEST(ReadEndOfStream, TakesWhatOthersWrite) {
  const std::pair<const char*, const char*> table[] = {
      {"{}", "0|"},
      {" { } ", "0|"},
      {R"({"metadata":null})", "0|"},
      {R"({"metadata":{}})", "0|"},
      {R"({"error":null})", "0|"},
      {R"({"error":{}})", "2|"},
      {R"({"error":{"code":null}})", "2|"},
      {R"({"error":{"code":""}})", "2|"},
      {R"({"metadata":{"a":[]}})", "0|"},
      {R"({"metadata":{"Acme-Cost":["237","238"]},"more":1})", "0||acme-cost=237|acme-cost=238"},
      {R"({"metadata":{"x-bin":["/w==","AA,AQ"]}})", "0||x-bin=\xff|x-bin="},
      {R"({"error":{"code":"unavailable"}})", "14|"},
      {R"({"error":{"code":"unavailable","message":"overloaded","details":[]}})", "14|overloaded"},
  };
  for (const auto& [body, expected] : table) {
    const auto end = read_end_of_stream(body);
    ASSERT_TRUE(end.ok()) << body << ": " << end.error().message;
    EXPECT_EQ(shown(*end).substr(0, std::string(expected).size()), expected) << body;
  }
}

TEST(ReadEndOfStream, AnErrorIsOneWhateverItsCodeIsCalled) {
  for (const char* name : {"ok", "brand_new", "NOT_FOUND"}) {
    const auto end =
        read_end_of_stream(std::string(R"({"error":{"code":")") + name + R"(","message":"m"}})");
    ASSERT_TRUE(end.ok()) << name;
    EXPECT_EQ(shown(*end), "2|m") << name;
  }
}

TEST(ReadEndOfStream, RefusesWhatIsNone) {
  for (const std::string& body : {std::string(),
                                  std::string("null"),
                                  std::string("[]"),
                                  std::string("0"),
                                  std::string("{"),
                                  std::string("{}x"),
                                  std::string("{}{}"),
                                  std::string(R"({"error":{"code":5}})"),
                                  std::string(R"({"error":"unavailable"})"),
                                  std::string(R"({"error":[]})"),
                                  std::string(R"({"error":{"code":"aborted","message":5}})"),
                                  std::string(R"({"metadata":[]})"),
                                  std::string(R"({"metadata":{"a":"1"}})"),
                                  std::string(R"({"metadata":{"a":[1]}})"),
                                  std::string(R"({"metadata":{"a":[null]}})"),
                                  std::string(R"({"metadata":{"a":[["1"]]}})"),
                                  std::string(R"({"metadata":"a"})"),
                                  std::string("{\"metadata\":{\"a\":[\"\xff\"]}}"),
                                  std::string(10'000, '{'),
                                  "{\"x\":\"" + std::string(1 << 20, 'x') + "\"}"}) {
    const auto end = read_end_of_stream(body);
    ASSERT_FALSE(end.ok()) << body;
    EXPECT_EQ(end.error().code, Code::invalid_argument) << body;
    EXPECT_TRUE(end.error().message.starts_with("not the end of a stream: ")) << body;
  }
}

TEST(Percent, EncodesWhatIsNotPrintableAndItself) {
  const std::pair<std::string, std::string> table[] = {
      {"", ""},
      {"plain text, 1~2!", "plain text, 1~2!"},
      {"100%", "100%25"},
      {"%41", "%2541"},
      {"a\r\nb\tc", "a%0D%0Ab%09c"},
      {std::string("\0\x1f\x7f", 3), "%00%1F%7F"},
      {"\xe2\x82\xac", "%E2%82%AC"},
      {"\xff", "%FF"},
      {" two  spaces ", "%20two  spaces%20"},  // HTTP would take the outer ones away
      {" ", "%20"},
  };
  for (const auto& [text, encoded] : table) {
    EXPECT_EQ(percent_encoded(text), encoded);
    EXPECT_EQ(percent_decoded(encoded), text);
  }
}

TEST(Percent, EveryByteComesBack) {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  EXPECT_EQ(percent_decoded(percent_encoded(every)), every);
}

TEST(Percent, WhatIsMalformedStaysAsItIs) {
  const std::pair<const char*, const char*> table[] = {
      {"%", "%"},
      {"%4", "%4"},
      {"a%", "a%"},
      {"a%4", "a%4"},
      {"%zz", "%zz"},
      {"%4z", "%4z"},
      {"%z4", "%z4"},
      {"%%41", "%A"},
      {"%4%41", "%4A"},
      {"%e2%82%aC", "\xe2\x82\xac"},
      {"% 41", "% 41"},
      {"%+4", "%+4"},
      {"%-1", "%-1"},
      {"%0x41", "%0x41"},
      {"%2541", "%41"},
      {"a+b", "a+b"},
      {"%41%", "A%"},
      {"\xff%41",
       "\xff"
       "A"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(percent_decoded(text), expected) << text;
}

}  // namespace
}  // namespace davit::host
