#include "services/journal.hpp"

#include <gtest/gtest.h>

#include <davit/types.hpp>

namespace davit::host {
namespace {

std::string entry_of(int32_t level, const Pairs& fields) {
  const auto abi = to_abi(fields);
  return Journal::entry(level, "streamer", "stream opened", abi.data(), abi.size());
}

TEST(JournalEntry, HasMessagePriorityAndTheFieldsOfTheEvent) {
  EXPECT_EQ(entry_of(DAVIT_LOG_INFO, {{"region", "eu-1"}, {"for_ms", "12"}}),
            "MESSAGE=streamer: stream opened\nPRIORITY=6\nSYSLOG_IDENTIFIER=davit\n"
            "DAVIT_INSTANCE=streamer\nDAVIT_REGION=eu-1\nDAVIT_FOR_MS=12\n");
}

TEST(JournalEntry, HasThePriorityOfTheLevel) {
  const std::pair<int32_t, const char*> rows[] = {{DAVIT_LOG_DEBUG, "PRIORITY=7\n"},
                                                  {DAVIT_LOG_INFO, "PRIORITY=6\n"},
                                                  {DAVIT_LOG_WARN, "PRIORITY=4\n"},
                                                  {DAVIT_LOG_ERROR, "PRIORITY=3\n"}};
  for (const auto& [level, priority] : rows)
    EXPECT_NE(entry_of(level, {}).find(priority), std::string::npos) << level;
}

// Otherwise a value could add fields of its own.
TEST(JournalEntry, SaysTheLengthOfAValueOfSeveralLines) {
  const std::string whole = entry_of(DAVIT_LOG_INFO, {{"what", "a\nPRIORITY=0"}});
  const std::string wanted = std::string("DAVIT_WHAT\n\x0c\0\0\0\0\0\0\0", 19) + "a\nPRIORITY=0\n";
  EXPECT_EQ(whole.substr(whole.size() - wanted.size()), wanted);
}

TEST(JournalEntry, NamesFieldsAsTheJournalDoes) {
  const std::string whole =
      entry_of(DAVIT_LOG_INFO, {{"host.log-level", "x"}, {std::string(100, 'k'), "y"}});
  EXPECT_NE(whole.find("\nDAVIT_HOST_LOG_LEVEL=x\n"), std::string::npos) << whole;
  EXPECT_NE(whole.find("\nDAVIT_" + std::string(58, 'K') + "=y\n"), std::string::npos) << whole;
}

}  // namespace
}  // namespace davit::host
