// Stories: one command a line; times in milliseconds.
#include "breaker.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include <davit/backoff.hpp>

namespace davit::reporter {
namespace {

using namespace std::chrono_literals;

std::string tell(const std::string& story) {
  Breaker breaker({3, 1000ms});
  std::istringstream in(story);
  std::string line, out;
  Breaker::Time now{0};
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string command;
    int64_t ms = 0;
    words >> command;
    if (command == "at") {
      words >> ms;
      now = std::chrono::milliseconds(ms);
    } else if (command == "call") {
      out += breaker.allow(now) ? "goes " : "waits ";
    } else if (command == "ok") {
      breaker.succeeded();
    } else if (command == "fail") {
      breaker.failed(now);
    } else if (command == "state") {
      static const char* const names[] = {"closed ", "open ", "half-open "};
      out += names[static_cast<int>(breaker.state(now))];
    } else if (!command.empty()) {
      ADD_FAILURE() << "unknown command " << command;
    }
  }
  return out;
}

TEST(Breaker, OpensAfterSoManyFailuresInARow) {
  EXPECT_EQ(tell("fail\nfail\nstate\ncall\nfail\nstate\ncall\n"), "closed goes open waits ");
}

TEST(Breaker, CountsAnewAfterASuccess) {
  EXPECT_EQ(tell("fail\nfail\nok\nfail\nfail\nstate\n"), "closed ");
}

TEST(Breaker, StaysOpenItsTimeHoweverLongItWasClosedBefore) {
  // The original forgets this: its minute counts from when it was made, so that a long healthy one
  // never stays open.
  EXPECT_EQ(tell("at 100000\nfail\nfail\nfail\nat 100999\nstate\ncall\nat 101000\nstate\n"),
            "open waits half-open ");
}

TEST(Breaker, SendsOneProbeWhenHalfOpen) {
  EXPECT_EQ(tell("fail\nfail\nfail\nat 1000\ncall\ncall\ncall\n"), "goes waits waits ");
}

TEST(Breaker, ClosesWhenTheProbeSucceeds) {
  EXPECT_EQ(tell("fail\nfail\nfail\nat 1000\ncall\nok\nstate\ncall\ncall\n"),
            "goes closed goes goes ");
}

TEST(Breaker, OpensAgainForItsWholeTimeWhenTheProbeFails) {
  EXPECT_EQ(tell("fail\nfail\nfail\nat 1000\ncall\nat 1500\nfail\nat 2499\ncall\nat 2500\ncall\n"),
            "goes waits goes ");
}

TEST(Breaker, IsNotKeptOpenByCallsThatWereUnderWay) {
  EXPECT_EQ(tell("fail\nfail\nfail\nat 900\nfail\nat 1000\ncall\n"), "goes ");
}

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
