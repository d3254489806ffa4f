#include "places.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_blob {
namespace {

using Verdict = Places::Verdict;

TEST(Places, OneCallerHasSoMany) {
  Places places(100, 2);
  EXPECT_EQ(places.enter("a"), Verdict::in);
  EXPECT_EQ(places.enter("a"), Verdict::in);
  EXPECT_EQ(places.enter("a"), Verdict::caller_full);
  EXPECT_EQ(places.enter("b"), Verdict::in);
  places.leave("a");
  EXPECT_EQ(places.enter("a"), Verdict::in);
}

TEST(Places, ThereAreSoManyInAll) {
  Places places(3, 3);
  for (const char* caller : {"a", "b", "c"}) EXPECT_EQ(places.enter(caller), Verdict::in);
  EXPECT_EQ(places.enter("d"), Verdict::full);
  places.leave("b");
  EXPECT_EQ(places.enter("d"), Verdict::in);
}

TEST(Places, TheLastHalfIsForCallersThatHaveNone) {
  Places places(8, 8);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(places.enter("greedy"), Verdict::in);
  EXPECT_EQ(places.enter("greedy"), Verdict::full);
  EXPECT_EQ(places.enter("one"), Verdict::in);
  EXPECT_EQ(places.enter("one"), Verdict::full);
  for (const char* caller : {"two", "three", "four"}) EXPECT_EQ(places.enter(caller), Verdict::in);
  EXPECT_EQ(places.enter("five"), Verdict::full);
}

TEST(Places, WhatIsRefusedTakesNothing) {
  Places places(2, 1);
  EXPECT_EQ(places.enter("a"), Verdict::in);
  EXPECT_EQ(places.enter("a"), Verdict::caller_full);
  EXPECT_EQ(places.size(), 1u);
  places.leave("a");
  places.leave("nobody");
  EXPECT_EQ(places.size(), 0u);
}

}  // namespace
}  // namespace davit::secrets_blob
