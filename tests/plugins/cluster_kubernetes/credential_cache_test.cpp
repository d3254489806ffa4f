// When an exec plugin runs, and how many requests a second are sent.
#include "credential_cache.hpp"

#include <gtest/gtest.h>

#include "limit.hpp"

namespace davit::cluster_kubernetes {
namespace {

using Say = CredentialCache::Say;
using std::chrono::milliseconds;
using std::chrono::seconds;

Credential until(int64_t unix_ms) {
  Credential out;
  out.expires_unix_ms = unix_ms;
  return out;
}

TEST(CredentialCache, ACredentialIsUsedUntilItExpires) {
  CredentialCache cache;
  EXPECT_EQ(cache.ask(seconds(0), 1'000'000), Say::run);
  cache.began();
  EXPECT_EQ(cache.ask(seconds(1), 1'001'000), Say::wait);
  cache.made(seconds(2), until(1'007'000));
  EXPECT_EQ(cache.ask(seconds(6), 1'006'999), Say::use);
  EXPECT_EQ(cache.ask(seconds(7), 1'007'000), Say::run);
}

TEST(CredentialCache, ACredentialWithoutATimeIsUsedUntilItIsRefused) {
  CredentialCache cache;
  cache.began();
  cache.made(seconds(1), Credential());
  EXPECT_EQ(cache.ask(std::chrono::hours(1'000), INT64_MAX), Say::use);
  EXPECT_TRUE(cache.refused(std::chrono::hours(1'000), 0));
  EXPECT_EQ(cache.ask(std::chrono::hours(1'000), 0), Say::run);
}

TEST(CredentialCache, AClockThatIsWrongDoesNotMakeEveryRequestRunThePlugin) {
  CredentialCache cache;
  cache.began();
  cache.made(seconds(1), until(5));
  EXPECT_EQ(cache.ask(milliseconds(1'900), 1'000'000), Say::use);
  EXPECT_EQ(cache.ask(milliseconds(2'000), 1'000'000), Say::run);
}

Credential renewed(int64_t from_unix_ms, int64_t until_unix_ms) {
  Credential out = until(until_unix_ms);
  out.renew_unix_ms = from_unix_ms;
  return out;
}

TEST(CredentialCache, TheNextOneIsMadeWhileTheLastIsStillUsed) {
  CredentialCache cache;
  cache.began();
  cache.made(seconds(0), renewed(60'000, 90'000));
  EXPECT_EQ(cache.ask(seconds(59), 59'999), Say::use);
  EXPECT_EQ(cache.ask(seconds(60), 60'000), Say::renew);
  cache.began();
  EXPECT_EQ(cache.ask(seconds(61), 61'000), Say::use);
  cache.failed(seconds(62), 0);
  EXPECT_EQ(cache.ask(seconds(62), 62'000), Say::use);
  EXPECT_EQ(cache.ask(seconds(64), 64'000), Say::renew);
  cache.began();
  EXPECT_EQ(cache.ask(seconds(89), 89'999), Say::use);
  EXPECT_EQ(cache.ask(seconds(90), 90'000), Say::wait) << "it has ended before the next one came";
  cache.failed(seconds(91), 0);
  EXPECT_EQ(cache.ask(seconds(91), 91'000), Say::fail);
  EXPECT_EQ(cache.ask(seconds(95), 95'000), Say::run);
  cache.began();
  cache.made(seconds(95), renewed(150'000, 180'000));
  EXPECT_EQ(cache.ask(seconds(96), 96'000), Say::use);
}

TEST(CredentialCache, OneThatIsRefusedWhileTheNextIsMadeIsNotUsedAgain) {
  CredentialCache cache;
  cache.began();
  cache.made(seconds(0), renewed(1'000, 90'000));
  EXPECT_EQ(cache.ask(seconds(1), 1'000), Say::renew);
  cache.began();
  EXPECT_TRUE(cache.refused(seconds(2), 0));
  EXPECT_EQ(cache.ask(seconds(2), 2'000), Say::wait);
  cache.made(seconds(3), renewed(60'000, 90'000));
  EXPECT_EQ(cache.ask(seconds(3), 3'000), Say::use);
}

TEST(CredentialCache, AServerThatSaysWhenToComeBackIsNotAskedBefore) {
  CredentialCache cache;
  cache.began();
  cache.failed(seconds(0), 0, seconds(100));
  EXPECT_EQ(cache.ask(seconds(99), 0), Say::fail);
  EXPECT_EQ(cache.ask(seconds(100), 0), Say::run);
}

TEST(CredentialCache, AfterAFailureItWaitsLongerEachTime) {
  CredentialCache cache;
  cache.began();
  cache.failed(seconds(10), UINT64_MAX);
  EXPECT_EQ(cache.ask(milliseconds(10'499), 0), Say::fail);
  EXPECT_EQ(cache.ask(seconds(11), 0), Say::run);
  for (int i = 0; i < 10; ++i) {
    cache.began();
    cache.failed(seconds(100), 0);
  }
  EXPECT_EQ(cache.ask(seconds(114), 0), Say::fail);
  EXPECT_EQ(cache.ask(seconds(131), 0), Say::run);
  cache.began();
  cache.made(seconds(131), Credential());
  EXPECT_EQ(cache.ask(seconds(131), 0), Say::use);
}

TEST(CredentialCache, AServerThatRefusesEverythingDoesNotRunItEachTime) {
  CredentialCache cache;
  cache.began();
  cache.made(seconds(1), Credential());
  EXPECT_TRUE(cache.refused(seconds(2), 0)) << "the first refusal counts at once";
  EXPECT_TRUE(cache.refused(seconds(2), 0)) << "others that were under way wait for the same run";
  cache.began();
  EXPECT_TRUE(cache.refused(seconds(2), 0));
  cache.made(seconds(2), Credential());
  EXPECT_FALSE(cache.refused(seconds(2), 0)) << "the new one is refused, too";
  EXPECT_EQ(cache.ask(seconds(2), 0), Say::use);
  EXPECT_TRUE(cache.refused(seconds(5), 0)) << "later it is tried again";
  cache.began();
  cache.made(seconds(5), Credential());
  cache.accepted();
  EXPECT_TRUE(cache.refused(seconds(5), 0)) << "it was accepted once, so this one has been revoked";
}

TEST(Limit, AfterAPauseThereIsABurstAndThenAPace) {
  Limit limit(10, 3);
  const auto now = seconds(1'000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.reserve(now), now);
  EXPECT_EQ(limit.reserve(now), now + milliseconds(100));
  EXPECT_EQ(limit.reserve(now), now + milliseconds(200));
  EXPECT_EQ(limit.reserve(now + milliseconds(50)), now + milliseconds(300)) << "in their order";
  EXPECT_EQ(limit.reserve(now + seconds(60)), now + seconds(60));
}

TEST(Limit, WithoutALimitNobodyWaits) {
  Limit limit(0, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.reserve(seconds(1)), seconds(1));
}

}  // namespace
}  // namespace davit::cluster_kubernetes
