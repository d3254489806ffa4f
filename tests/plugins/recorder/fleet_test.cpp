#include <gtest/gtest.h>

#include "fleet.hpp"

namespace davit::recorder {
namespace {

Progress said(const std::string& region, const std::string& agent, int64_t seen_at,
              std::vector<std::string> conditions = {}, Version applied = {}) {
  Progress p{region, agent, "davit", 1, {{"widget", {7, applied}}}, {}, seen_at};
  for (auto& c : conditions) p.issues.push_back({"widget", "w", "", "", 1, c, "why"});
  return p;
}

TEST(Fleet, RemembersWhereAnAgentWas) {
  Fleet fleet(10, 10);
  EXPECT_FALSE(fleet.applied_before({"eu", "a"}, "widget"));
  fleet.heard(said("eu", "a", 1, {}, 5));
  EXPECT_EQ(fleet.applied_before({"eu", "a"}, "widget"), (Cursor{7, 5}));
  EXPECT_FALSE(fleet.applied_before({"eu", "a"}, "gadget"));
  EXPECT_FALSE(fleet.applied_before({"us", "a"}, "widget"));
  fleet.heard(said("eu", "a", 2, {}, 9));
  EXPECT_EQ(fleet.applied_before({"eu", "a"}, "widget"), (Cursor{7, 9}));
}

// Every condition that there is, with 0 where nothing is said here.
Fleet::Issues issues(const std::map<std::string, uint64_t>& counts) {
  Fleet::Issues out = {{"blind", 0}, {"contested", 0}, {"delayed", 0},  {"denied", 0},
                       {"held", 0},  {"missing", 0},   {"orphaned", 0}, {"parked", 0}};
  for (const auto& [condition, count] : counts) out[condition] = count;
  return out;
}

TEST(Fleet, IssuesAreThoseOfAllAgentsOfTheRegionAsSaidLast) {
  Fleet fleet(10, 10);
  fleet.heard(said("eu", "a", 1, {"parked", "parked", "held", "contested"}));
  fleet.heard(said("eu", "b", 1,
                   {"parked", "orphaned", "delayed", "missing", "missing", "a word of its own"}));
  fleet.heard(said("eu-2", "c", 1, {"held"}));
  EXPECT_EQ(fleet.issues("eu"), issues({{"contested", 1},
                                        {"delayed", 1},
                                        {"held", 1},
                                        {"missing", 2},
                                        {"orphaned", 1},
                                        {"parked", 3}}));
  fleet.heard(said("eu", "a", 2));
  EXPECT_EQ(fleet.issues("eu"),
            issues({{"delayed", 1}, {"missing", 2}, {"orphaned", 1}, {"parked", 1}}));
  EXPECT_EQ(fleet.issues("us"), issues({}));
}

TEST(Fleet, ForgetsTheSilentWithTheirIssues) {
  Fleet fleet(10, 10);
  fleet.heard(said("eu", "a", 100, {"parked"}));
  fleet.heard(said("eu", "b", 200, {"parked"}));
  EXPECT_TRUE(fleet.forget(100).empty());
  EXPECT_EQ(fleet.forget(101), (std::vector<Fleet::Name>{{"eu", "a"}}));
  EXPECT_TRUE(fleet.forget(101).empty());
  EXPECT_EQ(fleet.issues("eu").at("parked"), 1u);
  EXPECT_FALSE(fleet.applied_before({"eu", "a"}, "widget"));
}

TEST(Fleet, NewNamesBeyondTheLimitAreNotRememberedAndThoseOfTheSilentCount) {
  Fleet fleet(2, 10);
  EXPECT_TRUE(fleet.heard(said("eu", "a", 1)));
  EXPECT_TRUE(fleet.heard(said("eu", "b", 1)));
  EXPECT_FALSE(fleet.heard(said("eu", "c", 1)));
  EXPECT_TRUE(fleet.heard(said("eu", "b", 9)));
  fleet.forget(5);
  EXPECT_FALSE(fleet.heard(said("eu", "c", 9)));
  EXPECT_TRUE(fleet.heard(said("eu", "a", 9, {}, 4)));
  EXPECT_EQ(fleet.applied_before({"eu", "a"}, "widget"), (Cursor{7, 4}));
}

TEST(Fleet, NamesOfOneRegionDoNotFillItForTheOthers) {
  Fleet fleet(10, 2);
  EXPECT_TRUE(fleet.heard(said("eu", "a", 1)));
  EXPECT_TRUE(fleet.heard(said("eu", "b", 1)));
  EXPECT_FALSE(fleet.heard(said("eu", "c", 1)));
  EXPECT_TRUE(fleet.heard(said("eu", "a", 2)));
  EXPECT_TRUE(fleet.heard(said("us", "c", 1)));
}

}  // namespace
}  // namespace davit::recorder
