#include <gtest/gtest.h>

#include "purge.hpp"

namespace davit::desired {
namespace {

constexpr int64_t now = 1'000'000;
const PurgeLimits limits{std::chrono::milliseconds(1000), std::chrono::milliseconds(500)};

struct Tombstone {
  Version version;
  int64_t age_ms;
};

Progress agent(const std::string& region, const std::string& name, int64_t silent_ms,
               std::vector<Version> applied) {
  Progress p{region, name, "davit", 1, {}, {}, now - silent_ms};
  for (const Version v : applied)
    p.kinds.push_back({"kind-" + std::to_string(p.kinds.size()), {7, v}});
  return p;
}

// "through 5, 2 taken, held at 9 by agent eu/a".
std::string decide(const std::vector<Progress>& agents, const std::vector<Tombstone>& tombstones) {
  Purge purge(limits, agents, now);
  for (const auto& t : tombstones) {
    if (!purge.take(t.version, now - t.age_ms)) break;
  }
  std::string out =
      "through " + to_string(purge.through()) + ", " + std::to_string(purge.count()) + " taken";
  if (const auto& h = purge.hold()) {
    out += ", held at " + to_string(h->version) + " by " + h->by;
    if (h->by == "agent") out += " " + h->region + "/" + h->agent;
  }
  return out;
}

TEST(Purge, TakesWhatIsOldAndWhatEveryLiveAgentHasComePast) {
  struct Row {
    const char* what;
    std::vector<Progress> agents;
    std::vector<Tombstone> tombstones;
    const char* decision;
  };
  const Row rows[] = {
      {"nothing is dead", {}, {}, "through 0, 0 taken"},
      {"nobody is there", {}, {{3, 5000}, {5, 1000}}, "through 5, 2 taken"},
      {"a young one holds what follows it, whatever its age",
       {},
       {{3, 5000}, {5, 999}, {9, 5000}},
       "through 3, 1 taken, held at 5 by retention"},
      {"at the agent's cursor it has come past",
       {agent("eu", "a", 0, {5})},
       {{3, 5000}, {5, 5000}, {6, 5000}},
       "through 5, 2 taken, held at 6 by agent eu/a"},
      {"the lowest cursor of all kinds counts",
       {agent("eu", "a", 0, {90, 4, 80})},
       {{3, 5000}, {5, 5000}},
       "through 3, 1 taken, held at 5 by agent eu/a"},
      {"the lowest of all agents counts, whatever its region",
       {agent("eu", "a", 0, {90}), agent("us", "b", 0, {2}), agent("us", "c", 0, {50})},
       {{3, 5000}},
       "through 0, 0 taken, held at 3 by agent us/b"},
      {"an agent that has applied nothing holds everything",
       {agent("eu", "a", 0, {0})},
       {{1, 5000}},
       "through 0, 0 taken, held at 1 by agent eu/a"},
      {"heard of just within the time, it is live",
       {agent("eu", "a", 500, {2})},
       {{3, 5000}},
       "through 0, 0 taken, held at 3 by agent eu/a"},
      {"silent for longer, it is not",
       {agent("eu", "a", 501, {2})},
       {{3, 5000}},
       "through 3, 1 taken"},
      {"one that says no cursor is protected by the retention",
       {agent("eu", "aws/eu", 0, {})},
       {{3, 1000}, {4, 999}},
       "through 3, 1 taken, held at 4 by retention"},
      {"the agent is named before the retention",
       {agent("eu", "a", 0, {2})},
       {{3, 0}},
       "through 0, 0 taken, held at 3 by agent eu/a"},
      {"a clock that went back holds until it is there again",
       {},
       {{3, -5000}},
       "through 0, 0 taken, held at 3 by retention"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(decide(row.agents, row.tombstones), row.decision) << row.what;
}

TEST(Purge, TakesNothingAfterOneThatStays) {
  Purge purge(limits, {}, now);
  EXPECT_FALSE(purge.take(3, now));
  EXPECT_FALSE(purge.take(4, 0));
  EXPECT_EQ(purge.through(), Version(0));
  EXPECT_EQ(purge.hold()->version, Version(3));
}

// A made-up agent would otherwise hold those of all regions for as long as somebody speaks for it.
TEST(Purge, AnAgentHoldsATombstoneForATimeAndNoLonger) {
  PurgeLimits bounded = limits;
  bounded.agent_hold = std::chrono::milliseconds(3000);
  Purge purge(bounded, {agent("eu", "made-up", 0, {1})}, now);
  EXPECT_TRUE(purge.take(3, now - 4000));
  EXPECT_FALSE(purge.take(5, now - 2999));
  EXPECT_EQ(purge.through(), Version(3));
  ASSERT_TRUE(purge.hold());
  EXPECT_EQ(purge.hold()->agent, "made-up");
}

}  // namespace
}  // namespace davit::desired
