#include "review_pace.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;
using Reviewed = ReviewPace::Verdict;

// How many questions of the address pass at once.
size_t passes(ReviewPace& pace, const std::string& address, ReviewPace::Time now,
              size_t asked = 1'000) {
  size_t out = 0;
  while (out < asked && pace.ask(address, now) == Reviewed::now) ++out;
  return out;
}

TEST(ReviewPace, OneAddressHasFourSecondsWorthAndThenItsPace) {
  ReviewPace pace({.per_second = 1'000, .per_second_per_address = 5});
  EXPECT_EQ(passes(pace, "a", 100s), 20u);
  EXPECT_EQ(pace.ask("a", 100s), Reviewed::too_many_of_address);
  EXPECT_EQ(passes(pace, "b", 100s), 20u);
  EXPECT_EQ(passes(pace, "a", 101s), 5u);
  EXPECT_EQ(passes(pace, "a", 200s), 20u);
}

TEST(ReviewPace, AllHaveOneTogether) {
  ReviewPace pace({.per_second = 10, .per_second_per_address = 10});
  size_t passed = 0;
  for (int n = 0; n < 100; ++n) passed += passes(pace, std::to_string(n), 100s, 1);
  EXPECT_EQ(passed, 40u);
  EXPECT_EQ(pace.ask("new", 100s), Reviewed::too_many);
  EXPECT_EQ(pace.ask("new", 101s), Reviewed::now);
}

TEST(ReviewPace, WhoAsksWithoutEndLeavesHalfToThoseWhoHaveNotAsked) {
  ReviewPace pace({.per_second = 10, .per_second_per_address = 10});
  EXPECT_EQ(passes(pace, "greedy", 100s), 20u);
  EXPECT_EQ(pace.ask("greedy", 100s), Reviewed::too_many);
  EXPECT_EQ(pace.ask("pod", 100s), Reviewed::now);
  EXPECT_EQ(pace.ask("pod", 100s), Reviewed::too_many) << "it has asked just now";
  EXPECT_EQ(pace.ask("another", 100s), Reviewed::now);
}

TEST(ReviewPace, WhatIsRefusedCountsForNobody) {
  ReviewPace pace({.per_second = 1, .per_second_per_address = 1});
  EXPECT_EQ(passes(pace, "a", 100s), 2u);
  for (int n = 0; n < 100; ++n) EXPECT_NE(pace.ask("a", 100s), Reviewed::now);
  EXPECT_EQ(pace.ask("a", 102s), Reviewed::now);
}

TEST(ReviewPace, RestedAddressesAreForgottenWhenThereAreMany) {
  ReviewPace pace({.per_second = 1'000'000, .per_second_per_address = 1});
  for (size_t n = 0; n < ReviewPace::addresses_max; ++n) pace.ask(std::to_string(n), 100s);
  EXPECT_EQ(pace.addresses(), ReviewPace::addresses_max);
  pace.ask("one more", 200s);
  EXPECT_EQ(pace.addresses(), 1u);
}

TEST(ReviewPace, ManyAddressesThatAskTakeNoMemoryWithoutEnd) {
  ReviewPace pace({.per_second = 1'000'000, .per_second_per_address = 1});
  for (size_t n = 0; n < ReviewPace::addresses_max; ++n) pace.ask(std::to_string(n), 100s);
  EXPECT_EQ(passes(pace, "new", 100s), 4u) << "those that are new share one pace";
  EXPECT_EQ(pace.ask("another", 100s), Reviewed::too_many_of_address);
  EXPECT_EQ(pace.addresses(), ReviewPace::addresses_max);
}

}  // namespace
}  // namespace davit::secrets_blob
