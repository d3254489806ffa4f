#include "rpc/repeated.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(Repeated, LogsTheFirstAndThenOnceAMinuteWithTheCount) {
  Repeated repeated;
  const Repeated::Time t{};
  using std::chrono::seconds;
  EXPECT_EQ(repeated.log("a", t), 0u);
  EXPECT_EQ(repeated.log("a", t + seconds(1)), std::nullopt);
  EXPECT_EQ(repeated.log("b", t + seconds(1)), 0u);
  EXPECT_EQ(repeated.log("a", t + seconds(59)), std::nullopt);
  EXPECT_EQ(repeated.log("a", t + seconds(60)), 2u);
  EXPECT_EQ(repeated.log("a", t + seconds(61)), std::nullopt);
  EXPECT_EQ(repeated.log("a", t + seconds(120)), 1u);
}

TEST(Repeated, WhateverTheKeysThereAreSoManyLinesAMinute) {
  Repeated repeated;
  const Repeated::Time t{};
  size_t lines = 0;
  constexpr size_t events = 3 * Repeated::keys_max;
  for (size_t i = 0; i < events; ++i) lines += repeated.log(std::to_string(i), t).has_value();
  EXPECT_EQ(lines, Repeated::lines_max);
  // The next line has the count of all that were left out.
  EXPECT_EQ(repeated.log("new", t + Repeated::interval), events - lines);
}

TEST(Repeated, ForgetsWhatWasSaidLongAgoAndKeepsItsCount) {
  Repeated repeated;
  Repeated::Time t{};
  for (size_t i = 0; i < Repeated::keys_max; ++i) {
    if (i % Repeated::lines_max == 0) t += Repeated::interval;
    EXPECT_TRUE(repeated.log(std::to_string(i), t)) << i;
  }
  t += 2 * Repeated::interval;
  EXPECT_TRUE(repeated.log("one more", t)) << "there is room again";
}

}  // namespace
}  // namespace davit::host
