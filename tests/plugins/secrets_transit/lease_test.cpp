// When a token is renewed, and when another one is asked for.
#include "lease.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_transit {
namespace {

using namespace std::chrono_literals;
using Next = Lease::Next;

TEST(Lease, IsRenewedWhenTwoThirdsAreOver) {
  const Lease lease(90s, true, 10s);
  EXPECT_EQ(lease.due(), Lease::Time(70s));
  EXPECT_EQ(lease.next(), Next::renewal);
  EXPECT_FALSE(lease.over(99s));
  EXPECT_TRUE(lease.over(100s));
}

TEST(Lease, ThatCannotBeRenewedIsReplaced) {
  Lease lease(90s, false, 0s);
  EXPECT_EQ(lease.due(), Lease::Time(60s));
  EXPECT_EQ(lease.next(), Next::login);
  lease = Lease(90s, true, 0s);
  lease.not_renewed();
  EXPECT_EQ(lease.next(), Next::login);
}

TEST(Lease, NearItsEndIsReplacedInsteadOfBeingRenewedForEverShorterTimes) {
  Lease lease(90s, true, 0s);
  lease.renewed(90s, true, 60s);
  EXPECT_EQ(lease.next(), Next::renewal);
  EXPECT_EQ(lease.due(), Lease::Time(120s));
  lease.renewed(45s, true, 120s);
  EXPECT_EQ(lease.next(), Next::renewal);
  lease.renewed(30s, true, 150s);
  EXPECT_EQ(lease.next(), Next::login);
  EXPECT_EQ(lease.due(), Lease::Time(170s));
}

TEST(Lease, WithoutAnEndIsLeftAlone) {
  const Lease lease(0s, true, 5s);
  EXPECT_EQ(lease.due(), std::nullopt);
  EXPECT_FALSE(lease.over(Lease::Time::max()));
}

}  // namespace
}  // namespace davit::secrets_transit
