#include "rollout.hpp"

#include <gtest/gtest.h>

namespace davit::deployment {
namespace {

// "a+" ready new, "a?" new but not ready, "a-" ready stale, "a~" stale and not ready, "ax"
// terminating stale.
std::vector<Pod> pods(std::initializer_list<const char*> words) {
  std::vector<Pod> out;
  for (const std::string_view word : words) {
    Pod pod;
    pod.name = word.substr(0, word.size() - 1);
    const char mark = word.back();
    pod.hash = mark == '+' || mark == '?' ? "new" : "old";
    pod.status = mark == '+' || mark == '-' ? "running" : "pending";
    pod.terminating = mark == 'x';
    out.push_back(pod);
  }
  return out;
}
using Names = std::vector<std::string>;

TEST(Rollout, CountsByTemplateAndReadiness) {
  const auto c = count(pods({"a+", "b?", "c-", "d~", "ex"}), "new");
  EXPECT_EQ(c.active, 4);
  EXPECT_EQ(c.updated, 2);
  EXPECT_EQ(c.updated_ready, 1);
  EXPECT_EQ(c.ready, 2);
  EXPECT_EQ(c.stale, (Names{"c", "d"}));
}

TEST(Rollout, ReplacesAtMostSoManyAtOnce) {
  EXPECT_EQ(replace_now(pods({"a-", "b-", "c-"}), {3, "new"}, 1), Names{"a"});
  EXPECT_EQ(replace_now(pods({"a-", "b-", "c-"}), {3, "new"}, 2), (Names{"a", "b"}));
}

TEST(Rollout, WaitsUntilTheReplacementIsReady) {
  EXPECT_EQ(replace_now(pods({"ax", "b-", "c-"}), {3, "new"}, 1), Names{});
  EXPECT_EQ(replace_now(pods({"a?", "b-", "c-"}), {3, "new"}, 1), Names{});
  EXPECT_EQ(replace_now(pods({"a+", "b-", "c-"}), {3, "new"}, 1), Names{"b"});
}

TEST(Rollout, TakesStalePodsThatServeNobodyFirst) {
  EXPECT_EQ(replace_now(pods({"a-", "b~", "c-"}), {3, "new"}, 1), Names{"b"});
}

TEST(Rollout, StopsWhenTheNewTemplateDoesNotBecomeReady) {
  EXPECT_EQ(replace_now(pods({"a?", "b?", "c-", "d-"}), {4, "new"}, 2), Names{});
}

TEST(Rollout, RecoversFromATemplateThatNeverBecameReady) {
  EXPECT_EQ(replace_now(pods({"a~", "b~", "c~"}), {3, "new"}, 1), Names{"a"});
}

TEST(Rollout, DoesNothingWhenAllAreUpdated) {
  EXPECT_EQ(replace_now(pods({"a+", "b?"}), {2, "new"}, 1), Names{});
}

TEST(Rollout, GoesAheadWhenThereAreMorePodsThanWanted) {
  EXPECT_EQ(replace_now(pods({"a-", "b-", "c-"}), {1, "new"}, 1), Names{"a"});
}

// Any template, any number: it ends, and availability never falls below the bound.
TEST(Rollout, AlwaysEndsAndKeepsEnoughReady) {
  for (int64_t replicas = 1; replicas <= 8; ++replicas) {
    for (int64_t max_unavailable = 1; max_unavailable <= replicas + 1; ++max_unavailable) {
      std::vector<Pod> world;
      for (int64_t i = 0; i < replicas; ++i)
        world.push_back({"p" + std::to_string(i), "", "", "old", "running", ""});
      int rounds = 0;
      for (; !count(world, "new").stale.empty(); ++rounds) {
        ASSERT_LT(rounds, 20);
        const auto victims = replace_now(world, {replicas, "new"}, max_unavailable);
        ASSERT_FALSE(victims.empty());
        for (auto& pod : world) {
          const bool hit = std::find(victims.begin(), victims.end(), pod.name) != victims.end();
          if (hit) pod.status = "pending";  // the new one in its place
          if (hit) pod.hash = "new";
        }
        ASSERT_GE(count(world, "new").ready, replicas - max_unavailable);
        for (auto& pod : world) pod.status = "running";
      }
    }
  }
}

}  // namespace
}  // namespace davit::deployment
