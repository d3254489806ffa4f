#include "controller/keyed_queue.hpp"

#include <gtest/gtest.h>

namespace davit::controller {
namespace {

using namespace std::chrono_literals;

KeyedQueue queue(size_t concurrency = 8) {
  return KeyedQueue({concurrency, {500ms, 30'000ms}});
}

TEST(KeyedQueue, GivesKeysInTheOrderInWhichTheyCame) {
  KeyedQueue q = queue();
  q.add("b", 1s);
  q.add("a", 2s);
  EXPECT_EQ(q.take(2s), "b");
  EXPECT_EQ(q.take(2s), "a");
  EXPECT_EQ(q.take(2s), std::nullopt);
}

TEST(KeyedQueue, MergesWhatIsAddedBeforeItsTurn) {
  KeyedQueue q = queue();
  for (int i = 0; i < 10; ++i) q.add("a", 1s);
  EXPECT_EQ(q.take(1s), "a");
  q.succeeded("a");
  EXPECT_EQ(q.take(1s), std::nullopt);
  EXPECT_EQ(q.waiting() + q.running(), 0u);
}

TEST(KeyedQueue, LooksAtAKeyOneAtATimeAndOnceMoreForWhatCameMeanwhile) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  EXPECT_EQ(q.take(1s), "a");
  q.add("a", 2s);
  q.add("a", 3s);
  EXPECT_EQ(q.take(3s), std::nullopt) << "it is being looked at";
  q.succeeded("a");
  EXPECT_EQ(q.take(3s), "a");
  q.succeeded("a");
  EXPECT_EQ(q.take(3s), std::nullopt);
}

TEST(KeyedQueue, KeepsTheLimit) {
  KeyedQueue q = queue(2);
  for (const char* key : {"a", "b", "c"}) q.add(key, 1s);
  EXPECT_TRUE(q.take(1s) && q.take(1s));
  EXPECT_EQ(q.take(1s), std::nullopt);
  EXPECT_EQ(q.due(), std::nullopt) << "a timer would not help";
  q.succeeded("a");
  EXPECT_TRUE(q.due() && *q.due() <= KeyedQueue::Time(1s));
  EXPECT_EQ(q.take(1s), "c");
}

TEST(KeyedQueue, WaitsLongerAfterEachFailureUpToTheMost) {
  KeyedQueue q = queue();
  KeyedQueue::Time now = 1s;
  q.add("a", now);
  std::vector<KeyedQueue::Time> rests;
  for (int i = 0; i < 9; ++i) {
    ASSERT_EQ(q.take(now), "a");
    q.failed("a", now, 0);
    ASSERT_TRUE(q.due().has_value());
    rests.push_back(*q.due() - now);
    now = *q.due();
  }
  EXPECT_EQ(rests.front(), KeyedQueue::Time(250ms)) << "the lower half of 0.5 s";
  EXPECT_EQ(rests[1], KeyedQueue::Time(500ms));
  EXPECT_EQ(rests.back(), KeyedQueue::Time(15s)) << "the lower half of 30 s";
  EXPECT_EQ(q.failures("a"), 9u);
}

TEST(KeyedQueue, AnEventDoesNotShortenTheRestAfterAFailure) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  q.take(1s);
  q.failed("a", 1s, 0);
  for (int i = 0; i < 100; ++i) q.add("a", 1s);
  EXPECT_EQ(q.take(1s), std::nullopt);
  EXPECT_EQ(q.take(1s + 250ms), "a");
}

TEST(KeyedQueue, RestsAsLongAsThePeerAsks) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  q.take(1s);
  q.failed("a", 1s, 0, 7'000ms);
  EXPECT_EQ(q.due(), KeyedQueue::Time(8s));
}

TEST(KeyedQueue, HurryEndsTheRests) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  for (KeyedQueue::Time now = 1s; now < 100s; now = *q.due()) {
    q.take(now);
    q.failed("a", now, 0);
  }
  q.hurry(100s);
  EXPECT_EQ(q.take(100s), "a");
  q.failed("a", 100s, 0);
  EXPECT_EQ(q.due(), KeyedQueue::Time(100s + 250ms)) << "the back-off begins anew";
}

TEST(KeyedQueue, ASuccessResetsTheBackoff) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  q.take(1s);
  q.failed("a", 1s, 0);
  q.take(2s);
  q.succeeded("a");
  EXPECT_EQ(q.failures("a"), 0u);
  q.add("a", 3s);
  EXPECT_EQ(q.take(3s), "a");
}

TEST(KeyedQueue, KeepsTheEarlierOfTwoTimes) {
  KeyedQueue q = queue();
  q.add_at("a", 9s);
  q.add_at("a", 5s);
  q.add_at("a", 7s);
  EXPECT_EQ(q.due(), KeyedQueue::Time(5s));
  q.add("a", 1s);
  EXPECT_EQ(q.take(1s), "a");
}

TEST(KeyedQueue, TakesFewerAtOnceWhileTheApiServerIsOverloaded) {
  KeyedQueue q = queue(4);
  for (const char* key : {"a", "b", "c", "d", "e"}) q.add(key, 1s);
  while (q.take(1s)) {
  }
  EXPECT_EQ(q.running(), 4u);
  cluster::Response refused;
  refused.http_status = 429;
  refused.retry_after = 3'000ms;
  q.answered("update robots", refused, 1s, 2s);
  for (const char* key : {"a", "b", "c"}) q.succeeded(key);
  EXPECT_EQ(q.take(2s), std::nullopt) << "it has asked for a pause";
  EXPECT_EQ(q.due(), KeyedQueue::Time(5s));
  EXPECT_EQ(q.take(5s), "e");
  q.add("a", 5s);
  EXPECT_EQ(q.take(5s), std::nullopt) << "half as many";
}

TEST(KeyedQueue, APassingRefusalOfOneObjectIsNoOverload) {
  KeyedQueue q = queue(2);
  q.add("a", 1s);
  q.take(1s);
  cluster::Response refused;
  refused.http_status = 409;
  q.answered("update robots", refused, 1s, 2s);
  refused.http_status = 500;
  q.answered("update robots", refused, 1s, 2s);
  q.add("b", 2s);
  EXPECT_EQ(q.take(2s), "b");
}

TEST(KeyedQueue, KeepsNothingOfAKeyThatIsDone) {
  KeyedQueue q = queue();
  q.add("a", 1s);
  q.take(1s);
  EXPECT_TRUE(q.known("a"));
  q.failed("a", 1s, 0);
  EXPECT_TRUE(q.known("a"));
  q.take(9s);
  q.succeeded("a");
  EXPECT_FALSE(q.known("a"));
}

TEST(KeyedQueue, FailingKeysDoNotHoldOthers) {
  KeyedQueue q = queue(1);
  q.add("bad", 1s);
  q.take(1s);
  q.failed("bad", 1s, 0);
  q.add("good", 1s);
  EXPECT_EQ(q.take(1s), "good");
}

}  // namespace
}  // namespace davit::controller
