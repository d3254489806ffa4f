#include "rollout.hpp"

#include <gtest/gtest.h>

namespace davit::deployment {
namespace {

constexpr int64_t now = 1'000'000'000;

// "a+" ready new, "a?" new but not ready, "a-" ready stale, "a~" stale and not ready, "ax"
// terminating stale. All are old, and have been ready for long.
std::vector<Pod> pods(std::initializer_list<const char*> words) {
  std::vector<Pod> out;
  for (const std::string_view word : words) {
    Pod pod;
    pod.name = word.substr(0, word.size() - 1);
    const char mark = word.back();
    pod.stale = mark != '+' && mark != '?';
    pod.status = mark == '+' || mark == '-' ? "running" : "pending";
    pod.terminating = mark == 'x';
    pod.created_ms = now - 900'000;
    if (pod.status == "running") pod.ready_since_ms = now - 890'000;
    out.push_back(pod);
  }
  return out;
}
using Names = std::vector<std::string>;

Names gone(const std::vector<Pod>& there, int64_t replicas, int64_t max_unavailable = 1) {
  return replace_now(there, replicas, {now, max_unavailable, 30'000, 10'000}).remove;
}

TEST(Rollout, CountsByTemplateAndReadiness) {
  const auto c = count(pods({"a+", "b?", "c-", "d~", "ex"}));
  EXPECT_EQ(c.active, 4);
  EXPECT_EQ(c.updated, 2);
  EXPECT_EQ(c.ready, 2);
  EXPECT_EQ(c.stale, (Names{"c", "d"}));
}

TEST(Rollout, ReplacesAtMostSoManyAtOnce) {
  EXPECT_EQ(gone(pods({"a-", "b-", "c-"}), 3, 1), Names{"a"});
  EXPECT_EQ(gone(pods({"a-", "b-", "c-"}), 3, 2), (Names{"a", "b"}));
}

TEST(Rollout, WaitsUntilTheReplacementIsReady) {
  EXPECT_EQ(gone(pods({"ax", "b-", "c-"}), 3), Names{});
  EXPECT_EQ(gone(pods({"a?", "b-", "c-"}), 3), Names{});
  EXPECT_EQ(gone(pods({"a+", "b-", "c-"}), 3), Names{"b"});
}

TEST(Rollout, TakesStalePodsThatServeNobodyFirst) {
  EXPECT_EQ(gone(pods({"a-", "b~", "c-"}), 3), Names{"b"});
}

TEST(Rollout, StopsWhenTheNewTemplateDoesNotBecomeReady) {
  EXPECT_EQ(gone(pods({"a?", "b?", "c-", "d-"}), 4, 2), Names{});
}

TEST(Rollout, RecoversFromATemplateThatNeverBecameReady) {
  EXPECT_EQ(gone(pods({"a~", "b~", "c~"}), 3), Names{"a"});
}

TEST(Rollout, DoesNothingWhenAllAreUpdated) {
  EXPECT_EQ(gone(pods({"a+", "b?"}), 2), Names{});
}

TEST(Rollout, GoesAheadWhenThereAreMorePodsThanWanted) {
  EXPECT_EQ(gone(pods({"a-", "b-", "c-"}), 1), Names{"a"});
}

// How long after what, and what is done and waited for then.
struct Waiting {
  int64_t ready_ms, age_ms;  // ago; of the new pod, of the stale one
  Names remove;
  int64_t look_again_ms;
};

TEST(Rollout, TakesANewPodForAvailableOnceItHasBeenReadyForLong) {
  const Waiting rows[] = {{0, 900'000, {}, 30'000},
                          {29'999, 900'000, {}, 1},
                          {30'000, 900'000, {"b"}, 0},
                          {-10'000, 900'000, {}, 40'000},
                          {-31'000, 900'000, {"b"}, 0}};
  for (const auto& row : rows) {
    auto there = pods({"a+", "b-", "c-"});
    there[0].ready_since_ms = now - row.ready_ms;
    const auto next = replace_now(there, 3, {now, 1, 30'000, 10'000});
    EXPECT_EQ(next.remove, row.remove) << row.ready_ms;
    EXPECT_EQ(next.look_again_ms, row.look_again_ms) << row.ready_ms;
  }
}

TEST(Rollout, LeavesAYoungPodOfAnOlderTemplateAloneAndCountsItsPlace) {
  const Waiting rows[] = {{0, 0, {}, 10'000},
                          {0, 9'000, {}, 1'000},
                          {0, 10'000, {"b"}, 0},
                          {0, -5'000, {}, 15'000},
                          {0, -11'000, {"b"}, 0}};
  for (const auto& row : rows) {
    auto there = pods({"a-", "b~", "c-"});
    there[1].created_ms = now - row.age_ms;
    const auto next = replace_now(there, 3, {now, 1, 30'000, 10'000});
    EXPECT_EQ(next.remove, row.remove) << row.age_ms;
    EXPECT_EQ(next.look_again_ms, row.look_again_ms) << row.age_ms;
  }
}

TEST(Rollout, DoesNotWaitForTimesThatItDoesNotKnow) {
  auto there = pods({"a+", "b-", "c-"});
  for (auto& pod : there) pod.created_ms = pod.ready_since_ms = 0;
  EXPECT_EQ(gone(there, 3), Names{"b"});
  there = pods({"a+", "b-", "c-"});
  there[0].ready_since_ms = now;
  EXPECT_EQ(replace_now(there, 3, {0, 1, 30'000, 10'000}).remove, Names{"b"});
}

TEST(Rollout, CountsNoMorePodsThanTheirControllerSays) {
  const Pace pace{now, 1, 30'000, 10'000};
  const auto there = pods({"a-", "b-", "c-", "d-"});
  EXPECT_EQ(replace_now(there, 4, pace, 4).remove, Names{"a"});
  EXPECT_EQ(replace_now(there, 4, pace, 3).remove, Names{}) << "one of them has gone";
  EXPECT_EQ(replace_now(pods({"a~", "b-", "c-", "d-"}), 4, pace, 0).remove, Names{"a"})
      << "a pod that serves nobody goes all the same";
}

TEST(Rollout, SaysWhatItWaitsFor) {
  const Pace pace{now, 1, 30'000, 10'000};
  auto there = pods({"a+", "b-", "c-"});
  EXPECT_EQ(replace_now(there, 3, pace).waits, "") << "it does not";
  there[0].ready_since_ms = now;
  EXPECT_EQ(replace_now(there, 3, pace).waits,
            "waits until the new ones have been ready for min_ready_s");
  there[1].created_ms = now;
  EXPECT_EQ(replace_now(there, 3, pace).waits, "waits until they are replace_after_s old");
}

TEST(Rollout, AsksForNothingWhenNoPodIsStale) {
  auto there = pods({"a+", "b+"});
  there[0].ready_since_ms = now;
  EXPECT_EQ(replace_now(there, 2, {now, 1, 30'000, 10'000}).look_again_ms, 0);
}

// What becomes ready and what has just become ready, with the readiness of the others.
TEST(Rollout, SparesAvailablePodsWhenTooFewAre) {
  auto there = pods({"a-", "b-", "c-"});
  there[2].ready_since_ms = now - 1'000;
  EXPECT_EQ(gone(there, 3), Names{"c"}) << "c is ready, but not available yet";
}

// Any template, any number: it ends, and availability never falls below the bound.
TEST(Rollout, AlwaysEndsAndKeepsEnoughReady) {
  for (int64_t replicas = 1; replicas <= 8; ++replicas) {
    for (int64_t max_unavailable = 1; max_unavailable <= replicas + 1; ++max_unavailable) {
      std::vector<Pod> world;
      for (int64_t i = 0; i < replicas; ++i) {
        Pod pod;
        pod.name = "p" + std::to_string(i);
        pod.status = "running";
        pod.stale = true;
        world.push_back(pod);
      }
      int rounds = 0;
      for (; !count(world).stale.empty(); ++rounds) {
        ASSERT_LT(rounds, 20);
        const auto victims = gone(world, replicas, max_unavailable);
        ASSERT_FALSE(victims.empty());
        for (auto& pod : world) {
          const bool hit = std::find(victims.begin(), victims.end(), pod.name) != victims.end();
          if (hit) pod.status = "pending";  // the new one in its place
          if (hit) pod.stale = false;
        }
        ASSERT_GE(count(world).ready, replicas - max_unavailable);
        for (auto& pod : world) pod.status = "running";
      }
    }
  }
}

}  // namespace
}  // namespace davit::deployment
