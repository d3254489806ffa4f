// Something behind the API server, an admission webhook say, that hangs or refuses in one
// namespace.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

bool applies_in(const cluster::Request& q, const std::string& ns) {
  return q.verb == DAVIT_VERB_APPLY && q.ns == ns;
}

// 429 with the longest Retry-After, for applies in one namespace.
Front::Policy throttles(const std::string& ns, const std::string& message) {
  return [=](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (!applies_in(q, ns)) return std::nullopt;
    auto r = refusal(429, "TooManyRequests", message);
    r.code = Code::resource_exhausted;
    r.retry_after = 30s;
    return r;
  };
}

void apply_many(World& w, const std::string& ns, uint64_t from, uint64_t to) {
  for (uint64_t n = from; n <= to; ++n) w.apply("web" + std::to_string(n), Version(n), {.ns = ns});
}

size_t done(const World& w, uint64_t from, uint64_t to) {
  size_t out = 0;
  for (uint64_t n = from; n <= to; ++n) out += w.outcome(Version(n)) == "done" ? 1 : 0;
  return out;
}

TEST(Slow, WhatHangsInOneNamespaceDoesNotHoldUpTheOthers) {
  World w;
  w.front().hangs = [](const cluster::Request& q) { return applies_in(q, "stuck"); };
  w.begin(true);
  apply_many(w, "stuck", 1, 100);
  w.wait(3s);
  EXPECT_EQ(w.front().sent["apply replicasets"], 16u) << "no more than were learned";
  apply_many(w, "acme", 101, 200);
  w.wait(5s);
  EXPECT_EQ(done(w, 101, 200), 100u);
  EXPECT_EQ(done(w, 1, 100), 0u);
  w.front().release();
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 100), 100u);
}

// Otherwise the stop would wait for an API server that never answers.
TEST(Slow, AStopEndsTheRequestsThatHang) {
  World w;
  w.front().hangs = [](const cluster::Request& q) { return applies_in(q, "stuck"); };
  w.begin(true);
  apply_many(w, "stuck", 1, 20);
  w.wait(3s);
  ASSERT_EQ(w.front().sent["apply replicasets"], 16u);
  w.restart();
  w.front().release();
  w.begin(true);
  apply_many(w, "stuck", 1, 20);
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 20), 20u) << "what was given up is done after the start";
}

TEST(Slow, WhatBeginsBehindHangingOnesWaitsUntilTheseAreKnownToBeSlow) {
  World w;
  w.front().hangs = [](const cluster::Request& q) { return applies_in(q, "stuck"); };
  w.begin(true);
  apply_many(w, "stuck", 1, 100);
  apply_many(w, "acme", 101, 110);
  w.wait(4s);
  EXPECT_EQ(done(w, 101, 110), 10u);
  w.front().release();
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 110), 110u);
}

// Nothing else happens at that time.
TEST(Slow, WhatIsHeldBackBeginsWhenTripsOfOthersAreKnownToBeSlow) {
  World w;
  w.front().hangs = [](const cluster::Request& q) { return q.verb == DAVIT_VERB_APPLY; };
  w.begin(true);
  w.wait(10s);
  apply_many(w, "stuck", 1, 8);
  w.wait(3s);
  apply_many(w, "later", 9, 16);
  apply_many(w, "stuck", 17, 20);
  w.wait(1s);
  ASSERT_EQ(w.front().sent["apply replicasets"], 16u) << "no more than were learned";
  w.wait(2s);
  EXPECT_EQ(w.front().sent["apply replicasets"], 20u);
  w.front().release();
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 20), 20u);
}

TEST(Slow, AWebhookThatAnswers429PausesItsOwnRecordsAndNoOthers) {
  World w;
  w.front().policy =
      throttles("busy", "admission webhook \"quota.example.com\" denied the request: slow down");
  w.begin(true);
  apply_many(w, "busy", 1, 50);
  apply_many(w, "acme", 51, 100);
  w.wait(2s);
  EXPECT_EQ(done(w, 51, 100), 50u);
  EXPECT_GE(w.host().metric("davit_applier_concurrency"), 16);
  EXPECT_EQ(w.front().sent["apply replicasets"], 100u) << "each is asked for again after 30 s";
  w.front().policy = nullptr;
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 50), 50u);
}

// Nothing in the answer tells that it is not the API server's own.
TEST(Slow, A429OfOneNamespaceWhileOthersAreServedIsNotTheApiServers) {
  World w;
  w.front().policy = throttles("busy", "slow down");
  w.begin(true);
  apply_many(w, "acme", 1, 1);
  apply_many(w, "busy", 2, 50);
  apply_many(w, "acme", 51, 100);
  w.wait(2s);
  EXPECT_EQ(done(w, 51, 100), 50u);
  w.front().policy = nullptr;
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 100), 100u);
}

// A namespace that alone asks is answered with a 429 that says so; then another one asks.
struct OneIsThrottled : World {
  explicit OneIsThrottled(const std::string& says) {
    front().policy = throttles("busy", says);
    begin(true);
    apply_many(*this, "busy", 1, 1);
    wait(2s);
    apply_many(*this, "acme", 51, 60);
  }
};

// What API Priority and Fairness answers names nobody; that nobody else asks proves nothing.
TEST(Slow, A429ThatNamesNoWebhookPausesAllThoughOneNamespaceAsks) {
  OneIsThrottled w("Too many requests, please try again later.");
  w.wait(20s);
  EXPECT_EQ(done(w, 51, 60), 0u) << "the API server asked for 30 s";
  w.front().policy = nullptr;
  w.wait(60s);
  EXPECT_EQ(done(w, 1, 1) + done(w, 51, 60), 11u);
}

TEST(Slow, A429ThatNamesAWebhookPausesNobodyElseThoughOneNamespaceAsks) {
  OneIsThrottled w("admission webhook \"quota.example.com\" denied the request: slow down");
  w.wait(5s);
  EXPECT_EQ(done(w, 51, 60), 10u) << "though it has Retry-After";
}

TEST(Slow, A429OfMostNamespacesIsTheApiServers) {
  World w;
  w.begin(true);
  w.throttle(10s);
  for (uint64_t n = 1; n <= 50; ++n)
    w.apply("web" + std::to_string(n), Version(n), {.ns = "ns" + std::to_string(n)});
  w.wait(5s);
  EXPECT_LE(w.requests(), 16u);
  w.throttle(0ms);
  w.wait(120s);
  EXPECT_EQ(done(w, 1, 50), 50u);
}

// Two records are to be repaired, and are held back. Then the second one is changed.
TEST(Slow, WhatIsHeldBackIsAsUrgentAsWhatCameForItSince) {
  World w;
  w.begin(true);
  apply_many(w, "stuck", 1, 18);
  w.wait();
  ASSERT_EQ(done(w, 1, 18), 18u);
  w.front().hangs = [](const cluster::Request& q) { return applies_in(q, "stuck"); };
  for (uint64_t n = 1; n <= 16; ++n)
    w.apply("web" + std::to_string(n), Version(100 + n), {.image = "nginx:2", .ns = "stuck"});
  w.wait(3s);
  const size_t before = w.front().sent["apply replicasets"];
  for (const char* name : {"web17", "web18"}) {
    w.call(DAVIT_VERB_MERGE, "replicasets", "stuck", name, R"({"spec":{"replicas":9}})",
           {{"fieldManager", "kubectl"}});
  }
  w.apply("web18", 118, {.image = "nginx:2", .ns = "stuck"});
  w.wait(1s);
  ASSERT_EQ(w.front().sent["apply replicasets"], before) << "both are held back";
  w.throttle(1s);  // both are let go before any may begin
  w.front().release();
  w.wait(500ms);
  w.throttle(0s);
  std::vector<std::string> order;
  w.front().policy = [&order](const cluster::Request& q) -> std::optional<cluster::Response> {
    const bool counts = q.name == "web17" || q.name == "web18";
    if (counts && q.verb == DAVIT_VERB_APPLY) order.push_back(q.name);
    return std::nullopt;
  };
  w.wait(60s);
  EXPECT_EQ(order, (std::vector<std::string>{"web18", "web17"}));
}

}  // namespace
}  // namespace davit::applier::test
