// Against a Vault that is away, slow, or answers what it must not.
#include <algorithm>
#include <thread>

#include "fixture.hpp"

namespace davit::secrets_vault {
namespace {

using Trouble = OnVault;
using Asked = std::vector<std::string>;

size_t lines(const Life& life, const std::string& part) {
  const auto log = life.host.log();
  return static_cast<size_t>(std::count_if(
      log.begin(), log.end(), [&](const auto& line) { return has(line.text(), part); }));
}

TEST_F(Trouble, A503IsTriedAgain) {
  Life life(config({{"attempts_max", 3}, {"retry_first_ms", 1}}));
  behave("fail", R"("code": "unavailable")");
  behave("status", R"("status": 503, "body": "<html>")");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(asked(), Asked({"e x1: unavailable", "status", "e x1: ok"}));
}

TEST_F(Trouble, AttemptsHaveAnEnd) {
  Life life(config({{"attempts_max", 3}, {"retry_first_ms", 1}}));
  behave("status", R"("status": 502, "times": 100)");
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
  EXPECT_EQ(asked(), Asked(3, "status"));
}

TEST_F(Trouble, ALongRetryAfterIsHandedOn) {
  Life life(config({{"attempts_max", 3}}));
  for (const char* how : {R"("status", "status": 503, "headers": {"retry-after": "30"})",
                          R"("fail", "code": "unavailable", "headers": {"retry-after": "30"})",
                          R"("status", "status": 429, "headers": {"retry-after": "30"})"}) {
    vault().ask(std::string(R"({"do": "behave", "as": )") + how + "}");
    const auto result = life.resolve_one(item("e", "1"));
    EXPECT_EQ(code_of(result), Code::unavailable);
    EXPECT_EQ(result.error().retry_after, 30s);
    EXPECT_EQ(asked().size(), 1u) << "nobody waits for it";
  }
}

TEST_F(Trouble, NobodyWaitsBeyondHisDeadlineForAnotherAttempt) {
  Life life(config({{"attempts_max", 9}, {"retry_first_ms", 60'000}, {"retry_most_ms", 60'000}}));
  behave("status", R"("status": 503)");
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"), life.within(20s))), Code::unavailable);
}

TEST_F(Trouble, ASlowAnswerEndsWithTheDeadlineAndWhatWasThereStays) {
  Life life(config({{"batch_items_max", 1}}));
  behave("none");
  behave("silent", R"("times": 9)");
  const auto results =
      life.resolve({item("e", "1"), item("e", "2"), item("e", "3")}, life.within(5s));
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(code_of(results[1]), Code::deadline_exceeded);
  EXPECT_EQ(code_of(results[2]), Code::deadline_exceeded);
}

TEST_F(Trouble, ASlowAnswerInTimeIsTaken) {
  Life life(config());
  behave("slow", R"("ms": 200)");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"), life.within(patience))), "1");
}

TEST_F(Trouble, ACancelEndsACallAtOnce) {
  Life life(config());
  behave("silent");
  const Operation operation;
  auto answered = life.begin({item("e", "1")}, operation);
  while (asked().empty()) std::this_thread::sleep_for(5ms);
  const auto from = std::chrono::steady_clock::now();
  operation.cancel();
  EXPECT_EQ(code_of(answered.get()[0]), Code::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - from, 5s) << "request_timeout_ms is 10 s";
}

TEST_F(Trouble, AStopAnswersWhatIsOpen) {
  Life life(config({{"attempts_max", 2}, {"retry_first_ms", 60'000}, {"retry_most_ms", 60'000}}));
  behave("silent");
  const Operation operation;
  auto under_way = life.begin({item("e", "1")}, operation);
  while (asked().empty()) std::this_thread::sleep_for(5ms);
  behave("status", R"("status": 503)");
  auto pausing = life.begin({item("e", "2")}, operation);
  while (asked().empty()) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(life.instance.stop().ok());
  for (auto* answered : {&under_way, &pausing}) {
    ASSERT_EQ(answered->wait_for(0s), std::future_status::ready);
    EXPECT_EQ(code_of(answered->get()[0]), Code::unavailable);
  }
}

TEST_F(Trouble, AnAnswerThatComesTooLateIsUnavailable) {
  Life life(config({{"request_timeout_ms", 100}}));
  for (const char* as : {"silent", "endless"}) {
    behave(as);
    const auto result = life.resolve_one(item("e", "1"));
    EXPECT_EQ(code_of(result), Code::unavailable);
    EXPECT_TRUE(has(told(result), "request_timeout_ms")) << told(result);
  }
}

TEST_F(Trouble, AConnectionThatIsCutIsUnavailable) {
  Life life(config());
  for (const char* as : {"cut", "cut_late"}) {
    behave(as);
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable) << as;
    EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1") << as;
  }
}

TEST_F(Trouble, AKeptConnectionThatWasClosedIsNoFailure) {
  Life life(config({{"breaker_failures_max", 1}}));
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  vault().ask(R"({"do": "down"})");
  vault().ask(R"({"do": "up"})");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(life.calls("unavailable"), 0);
}

TEST_F(Trouble, AVaultThatIsAwayAtTheStartIsNoReasonNotToStart) {
  vault().ask(R"({"do": "down"})");
  Life life(config());
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  const auto result = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(result), Code::unavailable);
  EXPECT_TRUE(has(told(result), "failed to connect")) << told(result);
  vault().ask(R"({"do": "up"})");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(lines(life, "the vault does not answer as it should"), 1u);
  EXPECT_EQ(lines(life, "the vault answers again"), 1u);
}

TEST_F(Trouble, AMissingValueIsTheFaultOfItsItemAlone) {
  Life life(config());
  behave("leave_out");
  const auto results = life.resolve({item("e", "1"), item("e", "2")});
  EXPECT_EQ(code_of(results[0]), Code::internal);
  EXPECT_EQ(told(results[1]), "2");
}

TEST_F(Trouble, AValueThatNobodyAskedForIsDropped) {
  Life life(config());
  behave("add", R"("times": 2)");
  for (int n = 0; n < 2; ++n) EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(lines(life, "values that were not asked for"), 1u);
}

TEST_F(Trouble, TheAnswerToAnotherCallIsNotTakenForThisOnes) {
  Life life(config());
  behave("rename");
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::internal);
}

TEST_F(Trouble, ALongAnswerIsNotReadToItsEnd) {
  Life life(config({{"response_bytes_max", 100'000}}));
  for (const char* length : {"true", "false"}) {
    behave("huge", std::string(R"("bytes": 104857600, "length": )") + length);
    const auto result = life.resolve_one(item("e", "1"));
    EXPECT_EQ(code_of(result), Code::resource_exhausted);
    EXPECT_TRUE(has(told(result), "(response_bytes_max)")) << told(result);
    EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  }
}

TEST_F(Trouble, WhoAnswersWithSomethingElseIsNoVault) {
  Life life(config({{"breaker_failures_max", 100}}));
  struct Row {
    const char *as, *more, *says;
  };
  for (const Row& row : {
           Row{"garbage", "", "is no DecryptBulkResponse"},
           Row{"status", R"("status": 200, "body": "<html>")", "something else than a message"},
           Row{"status", R"("status": 404)", "answers 404"},
           Row{"status", R"("status": 500, "body": "oops")", "answers 500"},
           Row{"status", R"("status": 302, "headers": {"location": "http://127.0.0.1:1/"})",
               "answers 302"},
           Row{"fail", R"("code": "unimplemented")", "(unimplemented)"},
       }) {
    behave(row.as, row.more);
    const auto result = life.resolve_one(item("e", "1"));
    EXPECT_EQ(code_of(result), Code::unavailable) << told(result);
    EXPECT_TRUE(has(told(result), row.says)) << told(result);
    EXPECT_TRUE(has(told(result), "is `url` that of a vault?")) << told(result);
  }
}

TEST_F(Trouble, WhatAProxySaysOfTheTokenIsNoFaultOfAnItem) {
  Life life(config());
  for (const auto& [status, code] :
       {std::pair{"401", Code::unauthenticated}, {"403", Code::permission_denied}}) {
    behave("status", std::string(R"("status": )") + status);
    const auto results = life.resolve({item("e", "1"), item("e", "2")});
    EXPECT_EQ(code_of(results[0]), code);
    EXPECT_EQ(code_of(results[1]), code);
    EXPECT_EQ(asked().size(), 1u);
  }
}

TEST_F(Trouble, NothingOfABodyIsShown) {
  Life life(config({{"breaker_failures_max", 100}}));
  const std::string hidden = "s3cr3t-do-not-show";
  for (const std::string& how : {R"("fail", "code": "internal", "message": ")" + hidden + "\"",
                                 R"("fail", "code": "unavailable", "message": ")" + hidden + "\"",
                                 R"("status", "status": 500, "body": ")" + hidden + "\"",
                                 R"("status", "status": 200, "headers": {"content-type": ")" +
                                     hidden + R"("}, "body": ")" + hidden + "\""}) {
    vault().ask(R"({"do": "behave", "as": )" + how + "}");
    EXPECT_FALSE(has(told(life.resolve_one(item("e", "1"))), hidden));
  }
  for (const auto& line : life.host.log()) {
    EXPECT_FALSE(has(line.text(), hidden)) << line.text();
    EXPECT_FALSE(has(line.text(), token)) << line.text();
  }
}

TEST_F(Trouble, AVaultWithoutItsStorageMakesNoGoodItemABadOne) {
  Life life(config());
  vault().ask(R"({"do": "storage", "away": true})");
  std::vector<Item> items;
  for (int n = 0; n < 100; ++n) items.push_back(item("e", std::to_string(n)));
  for (const auto& result : life.resolve(items)) EXPECT_EQ(code_of(result), Code::unavailable);
  EXPECT_LE(asked().size(), 40u) << "not twice as many calls as items";
  EXPECT_EQ(code_of(life.resolve_one(items[50])), Code::unavailable);
  vault().ask(R"({"do": "storage", "away": false})");
  EXPECT_EQ(told(life.resolve_one(items[50])), "50");
  EXPECT_EQ(code_of(life.resolve_one(bad_item("e"))), Code::invalid_argument)
      << "the Vault is believed again";
}

TEST_F(Trouble, TheBreakerRefusesAfterFailuresInARow) {
  Life life(config({{"breaker_failures_max", 3}, {"breaker_open_ms", 600'000}}));
  behave("status", R"("status": 503, "times": 3)");
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
  EXPECT_EQ(asked().size(), 3u);
  const auto refused = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(refused), Code::unavailable);
  EXPECT_GT(refused.error().retry_after, 300s);
  EXPECT_EQ(asked(), Asked()) << "it was not sent";
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_EQ(life.host.metric("davit_secrets_breaker", {{"secrets", "vault"}}), 2);
}

TEST_F(Trouble, TheBreakerSendsProbesUntilTheVaultAnswers) {
  Life life(config({{"breaker_failures_max", 3}, {"breaker_open_ms", 1}}));
  behave("status", R"("status": 503, "times": 4)");
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
  EXPECT_EQ(asked().size(), 3u);
  const auto probed = [&] {
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
    return !asked().empty();
  };
  EXPECT_TRUE(life.host.run_until(probed, patience)) << "the fourth failure is that of a probe";
  EXPECT_TRUE(life.host.run_until(
      [&] { return code_of(life.resolve_one(item("e", "1"))) == Code::ok; }, patience));
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(life.host.metric("davit_secrets_breaker", {{"secrets", "vault"}}), 0);
  EXPECT_EQ(life.host.metric("davit_secrets_breaker_opened_total", {{"secrets", "vault"}}), 2);
  EXPECT_EQ(lines(life, "the vault does not answer as it should"), 1u);
  EXPECT_EQ(lines(life, "the vault answers again"), 1u);
}

TEST_F(Trouble, NoBadItemOpensTheBreaker) {
  Life life(config({{"breaker_failures_max", 2}}));
  for (int n = 0; n < 6; ++n) {
    EXPECT_EQ(code_of(life.resolve_one(bad_item("e", std::to_string(n)))), Code::invalid_argument);
  }
}

TEST_F(Trouble, WhoGivesUpOnAHungVaultCountsAsAFailureOfIt) {
  Life life(config({{"breaker_failures_max", 1}, {"breaker_open_ms", 60'000}}));
  behave("silent", R"("times": 9)");
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"), life.within(100ms))), Code::deadline_exceeded);
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"), life.within(3s))), Code::deadline_exceeded)
      << "the impatient one has said nothing about the Vault";
  EXPECT_TRUE(
      life.host.run_until([&] { return life.host.health() == DAVIT_HEALTH_DEGRADED; }, patience));
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
}

TEST_F(Trouble, ALargeBatchTakesTurnsWithSmallOnes) {
  Life life(config({{"batch_items_max", 1}}));
  behave("slow", R"("ms": 20, "times": 400)");
  std::vector<Item> many;
  for (int n = 0; n < 200; ++n) many.push_back(item("e", std::to_string(n)));
  const Operation operation;
  std::vector<std::future<Results>> large;
  for (int n = 0; n < 8; ++n) large.push_back(life.begin(many, operation));
  EXPECT_EQ(told(life.resolve_one(item("e", "small"))), "small");
  for (auto& one : large) EXPECT_EQ(one.wait_for(0s), std::future_status::timeout);
  operation.cancel();
  for (auto& one : large) EXPECT_EQ(one.get().size(), many.size());
}

TEST_F(Trouble, NoMoreCallsAreOpenThanTheSettingSays) {
  Life life(config({{"open_calls_max", 2}}));
  behave("silent", R"("times": 2)");
  const Operation operation;
  auto first = life.begin({item("e", "1")}, operation);
  auto second = life.begin({item("e", "1")}, operation);
  for (size_t calls = 0; calls < 2; calls += asked().size()) std::this_thread::sleep_for(5ms);
  const auto third = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(third), Code::resource_exhausted);
  EXPECT_TRUE(has(told(third), "(open_calls_max)")) << told(third);
  operation.cancel();
  first.get();
  second.get();
  EXPECT_TRUE(life.host.run_until(
      [&] { return code_of(life.resolve_one(item("e", "1"))) == Code::ok; }, patience));
}

}  // namespace
}  // namespace davit::secrets_vault
