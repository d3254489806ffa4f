#include "conditions.hpp"

#include <gtest/gtest.h>

namespace davit::desired {
namespace {

constexpr int64_t now = 10'000'000;

// Began at `epoch` and was heard of `silent_ms` ago.
Agent agent(const std::string& name, const std::vector<std::string>& kinds, int64_t silent_ms = 0,
            uint64_t epoch = 1, const std::string& region = "eu") {
  Progress p{region, name, "davit", epoch, {}, {}, now - silent_ms};
  for (const auto& kind : kinds) p.kinds.push_back({kind, {1, 9}});
  return {p};
}
std::string of(const Conditions& conditions, const std::string& kind) {
  return conditions.of({kind, "eu", "x"}, nullptr).word;
}

TEST(Conditions, AKindThatNoAgentOfTheRegionNamesIsUnwatched) {
  const Conditions conditions({agent("a", {"deployment", "sentinel"})});
  EXPECT_EQ(of(conditions, "deployment"), "");
  EXPECT_EQ(of(conditions, "widget"), "unwatched");
  EXPECT_EQ(conditions.of({"widget", "eu", "x"}, nullptr).reason,
            "no agent of the region has said where it stands with this kind: is its plugin missing "
            "there? (agent a has deployment, sentinel)");
  EXPECT_EQ(conditions.of({"widget", "us", "x"}, nullptr).word, "") << "nobody is there";
}

TEST(Conditions, WhoNamesNoKindMayWatchAny) {
  const Conditions conditions({agent("a", {"deployment"}), agent("krane", {})});
  EXPECT_EQ(of(conditions, "widget"), "");
}

TEST(Conditions, ARegionWithRecordsNeedsAnAgentAtWork) {
  EXPECT_EQ(Conditions().of_region("eu", now).word, "unattended");
  const Conditions silent({agent("a", {"widget"}, 90'001)});
  EXPECT_EQ(silent.of_region("eu", now).word, "unattended");
  EXPECT_EQ(silent.of_region("eu", now).reason,
            "no agent of the region was heard of for 90 seconds");
  EXPECT_EQ(Conditions({agent("a", {"widget"}, 90'000)}).of_region("eu", now).word, "");
}

TEST(Conditions, TwoAgentsThatBothWorkAreNamed) {
  const auto word = [](const Agent& a, const Agent& b) {
    return Conditions({a, b}).of_region("eu", now).word;
  };
  const Agent later = agent("b", {"widget"}, 0, now - 5000);
  EXPECT_EQ(word(agent("a", {"widget"}, 1000), later), "contended");
  EXPECT_EQ(word(agent("a", {"widget"}, 6000), later), "") << "silent since the other began";
  EXPECT_EQ(word(agent("a", {"gadget"}, 1000), later), "") << "they share no kind";
  EXPECT_EQ(word(agent("a", {"widget"}, 1000, 1, "us"), later), "") << "another region";
}

}  // namespace
}  // namespace davit::desired
