#include "conditions.hpp"

#include <gtest/gtest.h>

namespace davit::desired {
namespace {

constexpr int64_t at_now = 10'000'000;

// Began at `epoch` and was heard of `silent_ms` ago.
Agent one_at_work(const std::string& name, const std::vector<std::string>& kinds,
                  int64_t silent_ms = 0, Epoch epoch = 1, const std::string& region = "eu") {
  Progress p{region, name, "davit", epoch, {}, {}, at_now - silent_ms};
  for (const auto& kind : kinds) p.kinds.push_back({kind, {1, 9}});
  return {p};
}
std::string word_of(const Conditions& conditions, const std::string& kind) {
  return conditions.of({kind, "eu", "x"}, 1, nullptr).word;
}

TEST(Conditions, AKindThatNoAgentOfTheRegionNamesIsUnwatched) {
  const Conditions conditions({one_at_work("a", {"deployment", "sentinel"})});
  EXPECT_EQ(word_of(conditions, "deployment"), "");
  EXPECT_EQ(word_of(conditions, "widget"), "unwatched");
  EXPECT_EQ(conditions.of({"widget", "eu", "x"}, 1, nullptr).reason,
            "no agent of the region reports progress of this kind: is its plugin missing "
            "there? (agent a has deployment, sentinel)");
  EXPECT_EQ(conditions.of({"widget", "us", "x"}, 1, nullptr).word, "") << "nobody is there";
}

TEST(Conditions, WhoNamesNoKindMayWatchAny) {
  const Conditions conditions({one_at_work("a", {"deployment"}), one_at_work("krane", {})});
  EXPECT_EQ(word_of(conditions, "widget"), "");
}

TEST(Conditions, ARegionWithRecordsNeedsAnAgentAtWork) {
  EXPECT_EQ(Conditions().of_region("eu", at_now).word, "unattended");
  const Conditions silent({one_at_work("a", {"widget"}, 90'001)});
  EXPECT_EQ(silent.of_region("eu", at_now).word, "unattended");
  EXPECT_EQ(silent.of_region("eu", at_now).reason,
            "no agent of the region was heard of for 90 seconds");
  EXPECT_EQ(Conditions({one_at_work("a", {"widget"}, 90'000)}).of_region("eu", at_now).word, "");
}

TEST(Conditions, TwoAgentsThatBothWorkAreNamed) {
  const auto word = [](const Agent& a, const Agent& b) {
    return Conditions({a, b}).of_region("eu", at_now).word;
  };
  const Agent later = one_at_work("b", {"widget"}, 0, Epoch(at_now - 5000));
  EXPECT_EQ(word(one_at_work("a", {"widget"}, 1000), later), "contended");
  EXPECT_EQ(word(one_at_work("a", {"widget"}, 6000), later), "") << "silent since the other began";
  EXPECT_EQ(word(one_at_work("a", {"gadget"}, 1000), later), "") << "they share no kind";
  EXPECT_EQ(word(one_at_work("a", {"widget"}, 1000, 1, "us"), later), "") << "another region";
}

TEST(Conditions, WhatWasToldBeforeAnAgentWentBlindIsUnknown) {
  Agent blind = one_at_work("a", {"widget"});
  blind.progress.issues.push_back({"widget", "", "", "pods", 0, DAVIT_ISSUE_BLIND,
                                   "since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden"});
  const Conditions conditions({blind});
  Status told;
  told.reported_at_unix_ms = 1'700'000'000'499;
  const Key key{"widget", "eu", "x"};
  EXPECT_TRUE(conditions.is_unseen(key, &told));
  EXPECT_TRUE(conditions.is_unseen(key, nullptr)) << "of which nothing was ever seen";
  EXPECT_EQ(conditions.of(key, told.observed_version, &told).word, DAVIT_ISSUE_BLIND);
  EXPECT_EQ(conditions.of(key, told.observed_version, &told).reason,
            "unknown since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden");
  told.reported_at_unix_ms = 1'700'000'000'500;
  EXPECT_FALSE(conditions.is_unseen(key, &told)) << "told since: seen all the same";
  EXPECT_FALSE(conditions.is_unseen({"widget", "us", "x"}, nullptr));
}

}  // namespace
}  // namespace davit::desired
