// Every file in breaker/ is one story. Times are milliseconds. It opens after 3 failures, for 1000.
// `call` prints whether a call goes out, `state` how the breaker stands.
#include "breaker.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/backoff.hpp>
#include <davit/testing/scenario.hpp>

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;

class BreakerCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "call") return breaker_.allow(now_) ? "goes\n" : "waits\n";
    if (command == "state") {
      static const char* const names[] = {"closed\n", "open\n", "half-open\n"};
      return names[static_cast<int>(breaker_.state(now_))];
    }
    if (command == "at") {
      int64_t ms = 0;
      if (!(words >> ms)) throw std::runtime_error("no time");
      now_ = std::chrono::milliseconds(ms);
    } else if (command == "ok") {
      breaker_.succeeded();
    } else if (command == "fail") {
      breaker_.failed(now_);
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  Breaker breaker_{{3, 1000ms}};
  Breaker::Time now_{0};
};

class BreakerStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BreakerStory, GoesAsTold) {
  BreakerCommands breaker;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return breaker.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, BreakerStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/breaker")),
                         testing::StoryName());

TEST(Backoff, DoublesUpToItsMostAndJittersInTheUpperHalf) {
  Backoff b({100ms, 1000ms});
  EXPECT_EQ(b.next(0), 50ms);
  EXPECT_EQ(b.next(50), 150ms);
  EXPECT_EQ(b.next(200), 400ms);
  EXPECT_EQ(b.next(0), 400ms);
  EXPECT_EQ(b.next(0), 500ms) << "the most is 1000";
  for (int i = 0; i < 100; ++i) EXPECT_LE(b.next(UINT64_MAX - static_cast<uint64_t>(i)), 1000ms);
  b.reset();
  EXPECT_EQ(b.next(0), 50ms);
}

TEST(Backoff, NeverComesBackBeforeThePeerSays) {
  Backoff b({100ms, 1000ms});
  EXPECT_EQ(b.next(0, 5000ms), 5000ms);
}

TEST(Jitter, StaysWithinItsBounds) {
  for (uint64_t random = 0; random < 5000; random += 7) {
    const auto d = jittered(1000ms, 5000ms, random);
    EXPECT_GE(d, 1000ms);
    EXPECT_LE(d, 5000ms);
  }
  EXPECT_EQ(jittered(1000ms, 5000ms, 4000), 5000ms);
}

}  // namespace
}  // namespace davit::reporter
