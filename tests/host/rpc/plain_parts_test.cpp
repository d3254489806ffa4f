// The plain parts of the front door: what is counted, shared and named.
#include <gtest/gtest.h>

#include "rpc/descriptors.hpp"
#include "rpc/episode.hpp"
#include "rpc/peer_address.hpp"
#include "rpc/quota.hpp"

namespace davit::host {
namespace {

using Verdict = Quota::Verdict;

TEST(Quota, LetsSoManyInAndSoManyOfOneAddress) {
  Quota quota(3, 2);
  EXPECT_EQ(quota.enter("a"), Verdict::in);
  EXPECT_EQ(quota.enter("a"), Verdict::in);
  EXPECT_FALSE(quota.has_room("a"));
  EXPECT_EQ(quota.enter("a"), Verdict::address_full);
  EXPECT_TRUE(quota.has_room("b"));
  EXPECT_EQ(quota.enter("b"), Verdict::in);
  EXPECT_EQ(quota.enter("c"), Verdict::full);
  quota.leave("a");
  EXPECT_EQ(quota.enter("c"), Verdict::in);
  EXPECT_EQ(quota.size(), 3u);
}

TEST(Quota, RemembersNobodyWhoHasLeftOrWasRefused) {
  Quota quota(1, 0);
  EXPECT_EQ(quota.enter("a"), Verdict::address_full);
  EXPECT_EQ(quota.addresses(), 0u);
  Quota other(1, 1);
  EXPECT_EQ(other.enter("a"), Verdict::in);
  other.leave("a");
  other.leave("a");
  EXPECT_EQ(other.size(), 0u);
  EXPECT_EQ(other.addresses(), 0u);
}

TEST(Episode, IsSaidWhenItBeginsAndWhenItHasBeenOverForAWhile) {
  Episode episode;
  const Episode::Time t{std::chrono::hours(1)};
  EXPECT_EQ(episode.is_over(t), std::nullopt);
  EXPECT_TRUE(episode.happens(t));
  EXPECT_FALSE(episode.happens(t + std::chrono::seconds(5)));
  EXPECT_EQ(episode.is_over(t + std::chrono::seconds(10)), std::nullopt);
  EXPECT_TRUE(episode.is_on());
  EXPECT_EQ(episode.is_over(t + std::chrono::seconds(15)), 2u);
  EXPECT_FALSE(episode.is_on());
  EXPECT_EQ(episode.is_over(t + std::chrono::seconds(30)), std::nullopt);
  EXPECT_TRUE(episode.happens(t + std::chrono::seconds(31)));
}

TEST(Descriptors, ALargeListenerLeavesASmallOneWhatItAsksFor) {
  using Shares = std::vector<size_t>;
  EXPECT_EQ(share_descriptors({20'000, 200}, 1'000'000), (Shares{20'000, 200}));
  EXPECT_EQ(share_descriptors({20'000, 200}, 1'024), (Shares{568, 200}));
  EXPECT_EQ(share_descriptors({20'000, 200}, 128), (Shares{48, 48}));
  EXPECT_EQ(share_descriptors({}, 128), Shares{});
}

TEST(PeerAddress, OfIpv6TheNetworkCountsThatOneCustomerHas) {
  EXPECT_EQ(address_of("ipv4:10.1.2.3:5000"), "10.1.2.3");
  EXPECT_EQ(address_of("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:5000"), "2001:db8:1:2::/64");
  EXPECT_EQ(address_of("ipv6:%5B2001:db8:1:2::9%5D:5001"), "2001:db8:1:2::/64");
  EXPECT_EQ(address_of("unix:root"), "unix:root");
  EXPECT_EQ(address_of(""), "");
}

TEST(PeerAddress, KnowsWhatOtherMachinesCannotReach) {
  for (const char* local : {"127.0.0.1:7070", "127.9.0.1:1", "[::1]:7070", "localhost:1"})
    EXPECT_TRUE(is_loopback(local)) << local;
  for (const char* open : {"0.0.0.0:7070", "[::]:7070", "10.0.0.1:1", "host:1", ":1"})
    EXPECT_FALSE(is_loopback(open)) << open;
}

}  // namespace
}  // namespace davit::host
