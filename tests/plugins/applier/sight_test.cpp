// Stories of one watch; times are seconds.
#include "sight.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace davit::applier {
namespace {

Sight::Moment moment(int64_t second) {
  return {std::chrono::seconds(second), 1'700'000'000'000 + second * 1000};
}

// After each "?" whether it sees (+), may yet be trusted to (. for not at all), or is blind (-).
std::string sight_of(const std::string& story) {
  Sight sight(std::chrono::seconds(30));
  std::istringstream in(story);
  std::string command, out;
  while (in >> command) {
    int64_t second = 0;
    if (command == "event") {
      sight.event();
    } else if (command == "synced") {
      sight.synced();
    } else {
      in >> second;
      if (command == "begin") sight.begin(moment(second));
      if (command == "refused") sight.refused("no", moment(second));
      if (command == "cut") sight.cut("broken", moment(second));
      if (command == "restarted") sight.restarted(moment(second));
      if (command != "?") continue;
      sight.expire(moment(second).at);
      out += sight.trusted() ? '+' : sight.blind() ? '-' : '.';
    }
  }
  return out;
}

TEST(Sight, TrustsNothingBeforeTheFirstWholePicture) {
  EXPECT_EQ(sight_of("begin 0 ? 1 restarted 2 event ? 3 synced ? 4"), "..+");
}

TEST(Sight, IsBlindWhenNoFirstPictureComes) {
  EXPECT_EQ(sight_of("begin 0 ? 29 ? 30 restarted 31 event ? 32 synced ? 33"), ".--+");
}

TEST(Sight, IsBlindAtOnceWhenItIsRefused) {
  EXPECT_EQ(sight_of("begin 0 synced ? 1 refused 2 ? 2 synced ? 3"), "+-+");
  EXPECT_EQ(sight_of("begin 0 refused 1 ? 1"), "-");
}

TEST(Sight, ARefusalEndsWithAWholePicture) {
  EXPECT_EQ(sight_of("begin 0 synced refused 2 event ? 2 cut 3 event ? 3 synced ? 4"), "--+")
      << "the object may be of another namespace";
}

TEST(Sight, OutlivesACutForItsPatience) {
  EXPECT_EQ(sight_of("begin 0 synced cut 10 ? 39 cut 39 ? 40 event ? 41"), "+-+")
      << "counted from the first failure";
}

TEST(Sight, ForgetsACutThatIsOver) {
  EXPECT_EQ(sight_of("begin 0 synced cut 10 event cut 35 ? 60 ? 65"), "+-");
}

TEST(Sight, WaitsForTheWholePictureAfterARestart) {
  EXPECT_EQ(sight_of("begin 0 synced cut 10 ? 40 restarted 41 event ? 42 synced ? 43"), "--+");
  EXPECT_EQ(sight_of("begin 0 synced restarted 10 event ? 39 ? 40"), "+-")
      << "a picture that is being made anew is old after a while";
}

TEST(Sight, SaysSinceWhenAndWhy) {
  Sight sight(std::chrono::seconds(30));
  sight.begin(moment(0));
  sight.synced();
  sight.cut("connection refused", moment(5));
  EXPECT_EQ(sight.reason(), "");
  EXPECT_EQ(sight.due(), std::chrono::seconds(35));
  sight.refused("401 Unauthorized", moment(9));
  EXPECT_EQ(sight.reason(), "since 2023-11-14T22:13:25.000Z: 401 Unauthorized");
  EXPECT_EQ(sight.due(), std::nullopt);
}

}  // namespace
}  // namespace davit::applier
