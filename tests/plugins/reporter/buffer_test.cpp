#include "buffer.hpp"

#include <gtest/gtest.h>

namespace davit::reporter {
namespace {

constexpr size_t plenty = 1 << 20;

Status status(const std::string& id, uint64_t sequence, size_t message = 0) {
  Status s;
  s.key = {"deployment", "eu", id};
  s.sequence = sequence;
  s.message.assign(message, 'x');
  return s;
}

std::string text(const std::vector<Status>& all) {
  std::string out;
  for (const auto& s : all) out += s.key.id + std::to_string(s.sequence) + " ";
  return out;
}

TEST(Buffer, GivesTheLatestOfEachKeyInOrderOfArrival) {
  Buffer b(10);
  for (const auto& s : {status("a", 1), status("b", 2), status("a", 3)}) b.offer(s);
  EXPECT_EQ(b.size(), 2u);
  EXPECT_EQ(text(b.take(10, plenty)), "a3 b2 ");
  EXPECT_TRUE(b.empty());
}

TEST(Buffer, DropsTheOldestKeyWhenItIsFull) {
  Buffer b(2);
  EXPECT_TRUE(b.offer(status("a", 1)));
  EXPECT_TRUE(b.offer(status("b", 2)));
  EXPECT_TRUE(b.offer(status("a", 3))) << "a known key needs no room";
  EXPECT_FALSE(b.offer(status("c", 4)));
  EXPECT_EQ(b.dropped(), 1u);
  EXPECT_EQ(text(b.take(10, plenty)), "b2 c4 ");
}

TEST(Buffer, PutsBackInFrontWhatNothingNewerReplaced) {
  Buffer b(10);
  for (const auto& s : {status("a", 1), status("b", 2), status("c", 3)}) b.offer(s);
  auto out = b.take(2, plenty);
  b.offer(status("b", 4));
  b.put_back(std::move(out));
  EXPECT_EQ(text(b.take(10, plenty)), "a1 c3 b4 ");
}

TEST(Buffer, StaysBoundedWhenItIsPutBackInto) {
  Buffer b(2);
  b.offer(status("a", 1));
  b.offer(status("b", 2));
  auto out = b.take(2, plenty);
  b.offer(status("c", 3));
  b.put_back(std::move(out));
  EXPECT_EQ(b.size(), 2u);
  EXPECT_EQ(b.dropped(), 1u);
  EXPECT_EQ(text(b.take(10, plenty)), "b2 c3 ");
}

TEST(Buffer, LimitsABatchByCountAndBytesButGivesAtLeastOne) {
  Buffer b(10);
  for (uint64_t i = 1; i <= 4; ++i) b.offer(status("k" + std::to_string(i), i, 1000));
  EXPECT_EQ(b.take(1, plenty).size(), 1u);
  EXPECT_EQ(b.take(10, 2500).size(), 2u);
  EXPECT_EQ(b.take(10, 1).size(), 1u);
}

TEST(Buffer, KeepsWhatIsPutOffUntilItIsDue) {
  using std::chrono::seconds;
  Buffer b(10);
  b.put_off(status("late", 1), seconds(20));
  b.put_off(status("early", 2), seconds(10));
  b.offer(status("now", 3));
  EXPECT_EQ(b.next_due(), seconds(10));
  b.release(seconds(9));
  EXPECT_EQ(text(b.take(10, plenty)), "now3 ");
  b.release(seconds(20));
  EXPECT_EQ(text(b.take(10, plenty)), "early2 late1 ");
  EXPECT_EQ(b.next_due(), std::nullopt);
}

TEST(Buffer, ANewerStatusTakesThePlaceOfOneThatIsPutOff) {
  Buffer b(10);
  b.put_off(status("a", 1), std::chrono::seconds(20));
  b.offer(status("a", 2));
  b.put_off(status("a", 1), std::chrono::seconds(30));
  EXPECT_EQ(b.put_off_count(), 0u);
  EXPECT_EQ(text(b.take(10, plenty)), "a2 ");
}

TEST(Buffer, CountsWhatIsPutOff) {
  Buffer b(2);
  b.put_off(status("a", 1), std::chrono::seconds(20));
  b.put_off(status("b", 2), std::chrono::seconds(10));
  b.put_off(status("c", 3), std::chrono::seconds(30));
  EXPECT_EQ(b.dropped(), 1u) << "nothing more goes in";
  EXPECT_FALSE(b.offer(status("d", 4))) << "but for what is new";
  b.release(std::chrono::seconds(60));
  EXPECT_EQ(text(b.take(10, plenty)), "d4 a1 ");
}

TEST(Buffer, KnowsARecordWithoutAnIdByItsName) {
  Buffer b(10);
  Status one = status("", 1), other = status("", 2);
  one.name = "web";
  other.name = "api";
  b.offer(one);
  b.offer(other);
  EXPECT_EQ(b.size(), 2u);
}

}  // namespace
}  // namespace davit::reporter
