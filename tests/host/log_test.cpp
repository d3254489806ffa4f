#include "services/log.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <davit/types.hpp>

namespace davit::host {
namespace {

constexpr int64_t at = 1'795'226'584'123;  // 2026-11-21T02:03:04.123Z

std::string line(Log::Format format, std::string_view message, const Pairs& fields) {
  const auto abi = to_abi(fields);
  return Log::render(format, at, DAVIT_LOG_INFO, "streamer", message, abi.data(), abi.size());
}

TEST(LogText, IsTimeLevelInstanceMessageFields) {
  EXPECT_EQ(line(Log::Format::text, "stream opened", {{"region", "us-east-1"}, {"count", "3"}}),
            "2026-11-21T02:03:04.123Z info  streamer  stream opened region=us-east-1 count=3\n");
}

TEST(LogText, QuotesWhatWouldNotReadBack) {
  EXPECT_EQ(
      line(Log::Format::text, "x",
           {{"a", ""}, {"b", "two words"}, {"c", "say \"hi\""}, {"d", "l1\nl2"}, {"e", "k=v"}}),
      "2026-11-21T02:03:04.123Z info  streamer  x a=\"\" b=\"two words\" c=\"say \\\"hi\\\"\" "
      "d=\"l1\\nl2\" "
      "e=\"k=v\"\n");
}

TEST(LogText, StaysOneLineWhateverTheMessage) {
  EXPECT_EQ(line(Log::Format::text, "a\nb\x1b[31m", {}),
            "2026-11-21T02:03:04.123Z info  streamer  a\\nb\\u001b[31m\n");
}

TEST(LogJson, IsOneObjectALine) {
  EXPECT_EQ(line(Log::Format::json, "stream \"x\" opened", {{"region", "us\\east\n"}}),
            "{\"time\":\"2026-11-21T02:03:04.123Z\",\"level\":\"info\",\"instance\":\"streamer\","
            "\"message\":\"stream \\\"x\\\" opened\",\"region\":\"us\\\\east\\n\"}\n");
}

// Whatever a message, a key or a value is, the line is one JSON object that says it again; what is
// not UTF-8 is U+FFFD there.
TEST(LogJson, IsValidWhateverIsSaid) {
  std::string all_bytes;
  for (int c = 0; c < 256; ++c) all_bytes += static_cast<char>(c);
  const std::pair<std::string, std::string> said[] = {
      {"plain", "plain"},
      {"\"quoted\" \\ {\"a\":1}", "\"quoted\" \\ {\"a\":1}"},
      {"l1\nl2\r\t\x01\x7f\x1b[31m", "l1\nl2\r\t\x01\x7f\x1b[31m"},
      {std::string("nul\0nul", 7), std::string("nul\0nul", 7)},
      {"größe € 𝄞", "größe € 𝄞"},
      {"\xff", "\uFFFD"},
      {"a\xc3", "a\uFFFD"},                              // half a character at the end
      {"\xc3(", "\uFFFD("},                              // ... and before another one
      {"\xe2\x82", "\uFFFD\uFFFD"},                      // two thirds of one
      {"\xc0\x80", "\uFFFD\uFFFD"},                      // overlong
      {"\xe0\x9f\xbf", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},            // half of a UTF-16 pair
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond Unicode
      {"\xed\x9f\xbf\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xf4\x8f\xbf\xbf"},
  };
  for (const auto& [text, expected] : said) {
    const std::string out = line(Log::Format::json, text, {{"value", text}, {text + "k", "x"}});
    EXPECT_EQ(out.find('\n'), out.size() - 1) << out;
    const auto read = boost::json::parse(out);
    EXPECT_EQ(read.at("message").as_string(), expected) << out;
    EXPECT_EQ(read.at("value").as_string(), expected);
    EXPECT_EQ(read.at(expected + "k").as_string(), "x");
  }
  EXPECT_NO_THROW(boost::json::parse(line(Log::Format::json, all_bytes, {{"k", all_bytes}})));
}

TEST(LogText, StaysUtf8) {
  EXPECT_EQ(line(Log::Format::text, "a\xff", {{"k", "b\xff"}, {"q", "two \xff"}}),
            "2026-11-21T02:03:04.123Z info  streamer  a\uFFFD k=b\uFFFD q=\"two \uFFFD\"\n");
}

TEST(Log, WritesFromItsLevelOn) {
  std::string text;
  Log log([&](std::string_view l) { text += l; });
  log.set(DAVIT_LOG_WARN, Log::Format::text);
  log.info("host", "quiet");
  log.warn("host", "loud", {{"k", "v"}});
  EXPECT_FALSE(log.enabled(DAVIT_LOG_INFO));
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find(" warn  host      loud k=v\n"), std::string::npos);
}

}  // namespace
}  // namespace davit::host
