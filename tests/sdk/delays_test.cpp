#include <davit/delays.hpp>
#include <davit/rfc3339.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

using namespace std::chrono_literals;

class DelaysTest : public ::testing::Test {
 protected:
  static Key key(const std::string& id) { return {"widget", "eu", id}; }
  int64_t note(const std::string& id, Version version, int64_t now,
               const std::string& stage = Delay::stream) {
    return delays_.note(key(id), stage, version, "at " + std::to_string(now), now);
  }
  // "a@3 since 100: at 200, "
  std::string all(int64_t now) const {
    std::string out;
    for (const Delay& d : delays_.all(now)) {
      out += d.key.id + "@" + to_string(d.version) + " since " + std::to_string(d.since_unix_ms) +
             ": " + d.reason + ", ";
    }
    return out;
  }
  Delays delays_{1min};
};

TEST_F(DelaysTest, SayWhatIsDelayedSinceWhenAndWhy) {
  EXPECT_EQ(all(0), "");
  EXPECT_EQ(note("a", 3, 100), 100);
  EXPECT_EQ(note("a", 3, 200), 100) << "since the first time";
  EXPECT_EQ(all(200), "a@3 since 100: at 200, ");
}

TEST_F(DelaysTest, GoOnWithALaterVersion) {
  note("a", 3, 100);
  note("a", 4, 200);
  EXPECT_EQ(all(200), "a@4 since 100: at 200, ");
  note("a", 3, 300);
  EXPECT_EQ(all(300), "a@4 since 100: at 200, ") << "from an older page";
  delays_.over(key("a"), Delay::stream, 3);
  EXPECT_EQ(all(300), "a@4 since 100: at 200, ") << "of an older version";
  delays_.over(key("a"), Delay::stream, 4);
  EXPECT_EQ(all(300), "");
}

TEST_F(DelaysTest, KeepTheStagesApart) {
  note("a", 3, 100);
  note("a", 3, 200, Delay::report);
  delays_.over(key("a"), Delay::stream);
  EXPECT_EQ(all(200), "a@3 since 200: at 200, ");
}

TEST_F(DelaysTest, EndWhenNobodyNotesThemAgain) {
  note("a", 3, 0);
  EXPECT_EQ(all(60'000), "a@3 since 0: at 0, ");
  EXPECT_EQ(all(60'001), "");
  EXPECT_EQ(note("a", 3, 70'000), 70'000) << "it is another delay";
}

TEST_F(DelaysTest, AreBounded) {
  for (int n = 0; n < 5000; ++n) note(std::to_string(n), 1, 0);
  EXPECT_EQ(delays_.all(0).size(), 1000u);
  for (int n = 0; n < 5000; ++n) note("later" + std::to_string(n), 1, 60'001);
  EXPECT_EQ(delays_.all(60'001).size(), 1000u) << "what has ended makes room";
}

TEST_F(DelaysTest, NameWhatWasNotAskedAboutLately) {
  note("a", 1, 0);
  note("b", 1, 30'000);
  note("c", 1, 0, Delay::report);
  EXPECT_EQ(delays_.unasked(Delay::stream, 10'000, 9), std::vector<Key>{key("a")});
  EXPECT_EQ(delays_.unasked(Delay::stream, 40'000, 1).size(), 1u);
}

TEST(Rfc3339, SaysATime) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(1'700'000'000'500), "2023-11-14T22:13:20.500Z");
}

}  // namespace
}  // namespace davit
