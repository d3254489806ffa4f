// Every file in election/ is one story of "a", which is us. A lease lasts 15 s, is given up after
// 10 s, and is looked at every 2 s. Times are milliseconds.
//
//   at 2000      the time is now
//   next         prints what to do
//   none         the look found no Lease
//   found HOLDER RENEWED [DURATION [EPOCH]]    what it found; "-": nobody
//   wrote        the write was done as it was asked for
//   failed       the request was refused, or nobody answered
//   release      prints what a clean stop would write
#include "election.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

namespace davit::leader {
namespace {

constexpr int64_t epoch_at_zero = 1'000'000;  // what the wall clock shows when the story begins

int64_t in_ms(Time t) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(t).count();
}

class ElectionCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "next") return next();
    if (command == "release") {
      const auto lease = election_.release();
      return lease ? "release transitions=" + std::to_string(lease->transitions) + "\n"
                   : "nothing to release\n";
    }
    if (command == "at") {
      int64_t ms = 0;
      if (!(words >> ms)) throw std::runtime_error("no time");
      now_ = std::chrono::milliseconds(ms);
    } else if (command == "none") {
      election_.saw(now_, std::nullopt);
    } else if (command == "found") {
      election_.saw(now_, found(words));
    } else if (command == "wrote") {
      asked_.resource_version = std::to_string(++version_);
      asked_.renew_time = std::to_string(in_ms(now_));
      election_.wrote(now_, asked_);
    } else if (command == "failed") {
      election_.failed(now_);
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  std::string next() {
    const Step step = election_.next(now_, epoch_at_zero + in_ms(now_));
    const std::string until = "until " + std::to_string(in_ms(step.until));
    switch (step.what) {
      case Step::What::look:
        return "look\n";
      case Step::What::wait:
        return step.until == Time::max() ? "wait\n" : "wait " + until + "\n";
      case Step::What::lost:
        return "lost " + until + ": " + step.why + "\n";
      case Step::What::write:
        asked_ = step.lease;
    }
    const char* what = asked_.resource_version.empty() ? "create"
                       : step.acquires                 ? "take"
                                                       : "renew";
    return std::string(what) + " transitions=" + std::to_string(asked_.transitions) +
           " epoch=" + to_string(asked_.epoch) + "\n";
  }

  Lease found(std::istringstream& words) {
    Lease out;
    int64_t duration = 0;
    uint64_t epoch = 0;
    words >> out.holder >> out.renew_time >> duration >> epoch;
    out.epoch = Epoch(epoch);
    if (out.holder == "-") out.holder.clear();
    out.duration = std::chrono::milliseconds(duration);
    out.transitions = 3;
    out.resource_version = std::to_string(++version_);
    return out;
  }

  Election election_{"a", {}};
  Time now_{0};
  Lease asked_;
  uint64_t version_ = 0;
};

class ElectionStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ElectionStory, GoesAsTold) {
  ElectionCommands election;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return election.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, ElectionStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/election")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::leader
