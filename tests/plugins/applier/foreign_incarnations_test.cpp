#include "foreign_incarnations.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {
using namespace std::chrono_literals;

TEST(ForeignIncarnations, AMessageThatMayHaveBeenSentBeforeExplainsNothing) {
  ForeignIncarnations s;
  s.seen(7, 100s);
  EXPECT_FALSE(s.confirmed(114s));
  EXPECT_FALSE(s.known()->contains(7));
  s.seen(7, 114s);
  EXPECT_TRUE(s.confirmed(115s)) << "it was seen first at 100";
  EXPECT_TRUE(s.known()->contains(7));
  EXPECT_FALSE(s.confirmed(300s)) << "nothing new";
}

TEST(ForeignIncarnations, AnotherIncarnationOfTheStoreBeginsAnew) {
  ForeignIncarnations s;
  s.seen(7, 0s);
  EXPECT_TRUE(s.confirmed(20s));
  s.seen(8, 20s);
  s.forget();
  EXPECT_TRUE(s.known()->empty());
  EXPECT_FALSE(s.confirmed(100s));
}

TEST(ForeignIncarnations, KeepsABoundedNumber) {
  ForeignIncarnations s;
  for (uint64_t i = 1; i <= 100'000; ++i) {
    s.seen(Incarnation(i), std::chrono::seconds(i));
    s.confirmed(std::chrono::seconds(i));
    ASSERT_LE(s.known()->size(), 512u);
  }
}

}  // namespace
}  // namespace davit::applier
