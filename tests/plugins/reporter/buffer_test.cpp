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
