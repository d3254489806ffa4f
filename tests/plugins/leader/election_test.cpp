// Stories: one command a line; times in milliseconds. `next` says what is to be done now.
#include "election.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace davit::leader {
namespace {

using namespace std::chrono_literals;

constexpr int64_t epoch_at_zero = 1'000'000;  // what the wall clock shows when the story begins

std::string in_ms(Time t) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(t).count());
}

// "a": us; a lease lasts 15 s, is given up after 10 s, looked at every 2 s.
//
//   at 2000                         the time is now
//   next                            what to do
//   none                            the look found no Lease
//   found HOLDER RENEWED [DURATION [EPOCH]]    what it found; "-": nobody
//   wrote                           the write was done as it was asked for
//   failed                          the request was refused, or nobody answered
//   release                         what a clean stop would write
std::string tell(const std::string& story) {
  Election election("a", {});
  std::istringstream in(story);
  std::string line, out;
  Time now{0};
  Lease asked;
  uint64_t version = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "at") {
      int64_t ms = 0;
      words >> ms;
      now = std::chrono::milliseconds(ms);
    } else if (command == "next") {
      const int64_t unix_ms =
          epoch_at_zero + std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
      const Step step = election.next(now, unix_ms);
      if (step.what == Step::What::look) out += "look";
      if (step.what == Step::What::wait)
        out += step.until == Time::max() ? "wait" : "wait until " + in_ms(step.until);
      if (step.what == Step::What::lost) out += "lost until " + in_ms(step.until) + ": " + step.why;
      if (step.what == Step::What::write) {
        asked = step.lease;
        out += asked.resource_version.empty() ? "create" : step.acquires ? "take" : "renew";
        out += " transitions=" + std::to_string(asked.transitions) +
               " epoch=" + std::to_string(asked.epoch);
      }
      out += "\n";
    } else if (command == "none") {
      election.saw(now, std::nullopt);
    } else if (command == "found") {
      Lease found;
      int64_t duration = 0;
      words >> found.holder >> found.renew_time >> duration >> found.epoch;
      if (found.holder == "-") found.holder.clear();
      found.duration = std::chrono::milliseconds(duration);
      found.transitions = 3;
      found.resource_version = std::to_string(++version);
      election.saw(now, found);
    } else if (command == "wrote") {
      asked.resource_version = std::to_string(++version);
      asked.renew_time = in_ms(now);
      election.wrote(now, asked);
    } else if (command == "failed") {
      election.failed(now);
    } else if (command == "release") {
      const auto lease = election.release();
      out += lease ? "release transitions=" + std::to_string(lease->transitions) + "\n"
                   : "nothing to release\n";
    } else if (!command.empty()) {
      ADD_FAILURE() << "unknown command " << command;
    }
  }
  return out;
}

TEST(Election, MakesTheLeaseThatIsNotThere) {
  EXPECT_EQ(tell("next\nnone\nnext\nwrote\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\nwait until 2000\n");
}

TEST(Election, RenewsEveryRetryWithoutLooking) {
  EXPECT_EQ(tell("next\nnone\nnext\nwrote\nat 2000\nnext\nat 2100\nwrote\nnext\nat 4100\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\n"
            "renew transitions=0 epoch=1000000\nwait until 4100\n"
            "renew transitions=0 epoch=1000000\n");
}

TEST(Election, WaitsWhileTheHolderGoesOnRenewing) {
  EXPECT_EQ(tell("next\nfound b 1 15000\nnext\nat 14000\nnext\nfound b 2 15000\nnext\nat 28999\n"
                 "next\nfound b 2 15000\nnext\n"),
            "look\nwait until 2000\nlook\nwait until 16000\nlook\nwait until 29000\n");
}

TEST(Election, TakesALeaseThatHasNotChangedForItsDurationOnOurClock) {
  EXPECT_EQ(tell("at 500\nnext\nfound b 1 15000 70\nat 15499\nnext\nfound b 1 15000 70\nnext\n"
                 "at 15500\nnext\nfound b 1 15000 70\nnext\nwrote\nnext\n"),
            "look\nlook\nwait until 15500\nlook\ntake transitions=4 epoch=1015500\n"
            "wait until 17500\n");
}

TEST(Election, WaitsAsLongAsTheHolderHasStatedNotAsLongAsWeWould) {
  EXPECT_EQ(tell("next\nfound b 1 60000\nat 15000\nnext\nfound b 1 60000\nnext\nat 60000\nnext\n"
                 "found b 1 60000\nnext\n"),
            "look\nlook\nwait until 17000\nlook\ntake transitions=4 epoch=1060000\n");
}

TEST(Election, WaitsOurDurationForAHolderThatStatedNone) {
  EXPECT_EQ(tell("next\nfound b 1\nat 14999\nnext\nfound b 1\nnext\nat 15000\nnext\nfound b 1\n"
                 "next\n"),
            "look\nlook\nwait until 15000\nlook\ntake transitions=4 epoch=1015000\n");
}

TEST(Election, CountsAnewForANewHolder) {
  EXPECT_EQ(tell("next\nfound b 1 15000\nat 14000\nnext\nfound c 1 15000\nat 15000\nnext\nat "
                 "16000\nnext\n"),
            "look\nlook\nwait until 16000\nlook\n");
}

TEST(Election, TakesAReleasedLeaseAtOnce) {
  EXPECT_EQ(tell("next\nfound - 1 15000 70\nnext\n"), "look\ntake transitions=4 epoch=1000000\n");
}

TEST(Election, GivesAnEpochAboveTheLastWhateverTheClockSays) {
  EXPECT_EQ(tell("next\nfound - 1 15000 9000000\nnext\n"),
            "look\ntake transitions=4 epoch=9000001\n");
}

TEST(Election, LooksAgainWhenAnotherWasFirst) {
  EXPECT_EQ(tell("next\nnone\nnext\nfailed\nnext\nat 2000\nnext\nfound b 1 15000\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\nwait until 2000\nlook\nwait until 4000\n");
}

TEST(Election, TakesWhatAWriteWithoutAnAnswerHasTakenWithAnEpochMore) {
  EXPECT_EQ(tell("next\nfound - 1 15000 70\nnext\nfailed\nat 2000\nnext\nfound a 2 15000 1000000\n"
                 "next\nwrote\n"),
            "look\ntake transitions=4 epoch=1000000\nlook\ntake transitions=3 epoch=1002000\n");
}

TEST(Election, AnEndlessRequestDoesNotHideTheDeadline) {
  EXPECT_EQ(tell("next\nnext\n"), "look\nwait\n");
  EXPECT_EQ(tell("next\nnone\nnext\nwrote\nat 2000\nnext\nnext\nat 10000\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\nrenew transitions=0 epoch=1000000\n"
            "wait until 10000\nlost until 15000: it could not be renewed for 10000 ms\n");
}

TEST(Election, CountsFromWhenTheRenewalWasSentNotFromItsAnswer) {
  EXPECT_EQ(tell("next\nnone\nnext\nat 4000\nwrote\nat 9999\nnext\nat 10000\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\nrenew transitions=0 epoch=1000000\n"
            "lost until 15000: it could not be renewed for 10000 ms\n");
}

TEST(Election, RenewsAfterTroubleThatEndsInTime) {
  EXPECT_EQ(tell("next\nnone\nnext\nwrote\nat 2000\nnext\nat 5000\nfailed\nat 7000\nnext\n"
                 "found a 0 15000 1000000\nnext\nat 7100\nwrote\nat 10000\nnext\nat 17000\nnext\n"),
            "look\ncreate transitions=0 epoch=1000000\nrenew transitions=0 epoch=1000000\nlook\n"
            "renew transitions=3 epoch=1000000\nrenew transitions=3 epoch=1000000\n"
            "lost until 22000: it could not be renewed for 10000 ms\n");
}

TEST(Election, IsLostWhenAnotherHoldsItAndEndsAtOnce) {
  EXPECT_EQ(tell("next\nnone\nnext\nwrote\nat 2000\nnext\nfailed\nat 4000\nnext\nfound b 1 15000\n"
                 "next\nat 9000\nnext\nrelease\n"),
            "look\ncreate transitions=0 epoch=1000000\nrenew transitions=0 epoch=1000000\nlook\n"
            "lost until 4000: \"b\" holds it\nlost until 9000: \"b\" holds it\n"
            "nothing to release\n");
}

TEST(Election, IsLostWhenItIsTakenAwayOrDeleted) {
  const std::string leading = "next\nnone\nnext\nwrote\nat 2000\nnext\nfailed\nat 4000\nnext\n";
  const std::string so_far =
      "look\ncreate transitions=0 epoch=1000000\nrenew transitions=0 epoch=1000000\nlook\n";
  EXPECT_EQ(tell(leading + "found - 1 15000\nnext\n"),
            so_far + "lost until 4000: it was taken away\n");
  EXPECT_EQ(tell(leading + "none\nnext\n"), so_far + "lost until 4000: it was deleted\n");
}

TEST(Election, ReleasesWhatIsItsOwnWithNothingUnderWay) {
  EXPECT_EQ(tell("release\nnext\nfound - 1 15000 70\nnext\nrelease\nwrote\nrelease\nat 2000\nnext\n"
                 "release\n"),
            "nothing to release\nlook\ntake transitions=4 epoch=1000000\nnothing to release\n"
            "release transitions=4\nrenew transitions=4 epoch=1000000\nnothing to release\n");
}

}  // namespace
}  // namespace davit::leader
