#include "services/log.hpp"

#include <gtest/gtest.h>

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
