#include "roster.hpp"

#include <gtest/gtest.h>

namespace davit::recorder {
namespace {

Progress word_of(const std::string& region, const std::string& agent, int64_t seen_at) {
  return {region, agent, "davit", 1, {}, {}, seen_at};
}

class RosterTest : public ::testing::Test {
 protected:
  static Limits limits() {
    Limits out;
    out.agents = 4;
    out.agents_a_region = 2;
    return out;
  }
  // "room", the name of who gives way, or "full".
  std::string place(const Progress& newcomer) const {
    const auto place = roster_.place_of(newcomer);
    if (!place.ok()) return "full";
    return *place ? (*place)->agent : "room";
  }
  Roster roster_{limits()};
};

TEST_F(RosterTest, ANewcomerHasRoomUntilItsRegionIsFull) {
  EXPECT_EQ(place(word_of("eu", "a", 0)), "room");
  roster_.heard(word_of("eu", "a", 0));
  roster_.heard(word_of("eu", "a", 1));
  EXPECT_EQ(place(word_of("eu", "b", 1)), "room") << "one agent has one place";
  roster_.heard(word_of("eu", "b", 1));
  EXPECT_EQ(place(word_of("eu", "c", 1)), "full");
  EXPECT_EQ(place(word_of("us", "c", 1)), "room");
}

TEST_F(RosterTest, WhatIsBelowTheLastEpochAndSequenceOfItsAgentIsLate) {
  const auto said = [](Epoch epoch, uint64_t sequence, const std::string& agent = "a") {
    return Progress{"eu", agent, "davit", epoch, {}, {}, 0, sequence};
  };
  EXPECT_FALSE(roster_.is_late(said(5, 7))) << "the first";
  roster_.heard(said(5, 7));
  EXPECT_FALSE(roster_.is_late(said(5, 8)));
  EXPECT_FALSE(roster_.is_late(said(5, 7))) << "the same again";
  EXPECT_TRUE(roster_.is_late(said(5, 6)));
  EXPECT_TRUE(roster_.is_late(said(4, 9)));
  EXPECT_FALSE(roster_.is_late(said(6, 1))) << "a later process";
  EXPECT_FALSE(roster_.is_late(said(4, 0))) << "it states no order";
  EXPECT_FALSE(roster_.is_late(said(4, 1, "b")));
  roster_.replace({said(0, 0)});
  EXPECT_TRUE(roster_.is_late(said(5, 6))) << "the store keeps no sequences";
  roster_.replace({said(0, 0, "b")});
  EXPECT_FALSE(roster_.is_late(said(5, 6))) << "it is forgotten";
}

TEST_F(RosterTest, WhoIsSilentForLongestGivesWayAndWhoIsAtWorkDoesNot) {
  roster_.heard(word_of("eu", "a", 500));
  roster_.heard(word_of("eu", "b", 0));
  EXPECT_EQ(place(word_of("eu", "c", 90'000)), "full");
  EXPECT_EQ(place(word_of("eu", "c", 90'001)), "b");
  roster_.gone({"eu", "b", 0});
  EXPECT_EQ(place(word_of("eu", "c", 90'001)), "room");
}

TEST_F(RosterTest, OtherRegionsGiveWayWhenAllIsFullAndTheyAreSilentForAnHour) {
  constexpr int64_t hour = 3'600'000;
  for (const char* region : {"one", "two"}) {
    roster_.heard(word_of(region, "a", 7));
    roster_.heard(word_of(region, "b", 9));
  }
  roster_.heard(word_of("two", "a", 5));
  const auto refused = roster_.place_of(word_of("eu", "a", hour + 5));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("agents_max"), std::string::npos);
  EXPECT_EQ(refused.error().code, Code::failed_precondition);
  EXPECT_FALSE(roster_.has(word_of("eu", "a", 0)));
  const auto place = roster_.place_of(word_of("eu", "a", hour + 6));
  ASSERT_TRUE(place.ok() && *place);
  EXPECT_EQ((*place)->region + "/" + (*place)->agent, "two/a");
}

}  // namespace
}  // namespace davit::recorder
