// What one caller may have, and what is left to the others.
#include "world.hpp"

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;

TEST(Limits, ATooLargeBlobIsRefusedBeforeAnyWork) {
  World w({{"blob_bytes_max", 100}});
  EXPECT_EQ(w.ask_with([](auto& m) { m.set_encrypted_blob(std::string(101, ' ')); }),
            "3 encrypted_blob has more than 100 bytes");
  EXPECT_EQ(w.api.asked.size(), 0u);
}

TEST(Limits, ATooLargeTokenIsRefusedBeforeAnyWork) {
  World w({{"token_bytes_max", 256}});
  EXPECT_EQ(w.ask_with([](auto& m) { m.set_token(std::string(257, 't')); }),
            "3 token has more than 256 bytes");
  EXPECT_EQ(w.api.asked.size(), 0u);
}

TEST(Limits, TheHostTakesNoLargerRequestAtAll) {
  World w({{"blob_bytes_max", 3'000}, {"token_bytes_max", 300}});
  EXPECT_EQ(w.rpc.request_bytes_max_of(World::path), 4'000u + 300u + 4'096u);
}

TEST(Limits, ABlobHasSoManyVariables) {
  World w({{"variables_max", 1}});
  EXPECT_EQ(w.ask(World::request()), "13 the secrets blob cannot be read");
  EXPECT_TRUE(w.host.logged("secrets: has 2 variables; variables_max is 1"));
}

TEST(Limits, OneAddressHasSoManyCallsOpen) {
  World w({{"calls_per_address_max", 2}});
  w.api.hold = true;
  auto& first = w.begin(World::request());
  w.begin(World::request());
  EXPECT_EQ(w.ask(World::request()), busy);
  auto& other = w.begin(World::request(), "10.0.0.2");
  EXPECT_EQ(World::told(other), "open");
  w.api.release();
  w.host.run();
  EXPECT_EQ(World::told(first), "A=one B=two");
  EXPECT_EQ(World::told(other), "A=one B=two");
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

TEST(Limits, AllHaveSoManyCallsOpenAndTheLastHalfIsForThoseWithout) {
  World w({{"calls_max", 4}, {"calls_per_address_max", 4}});
  w.api.hold = true;
  w.begin(World::request());
  w.begin(World::request());
  EXPECT_EQ(w.ask(World::request()), busy);
  for (const char* address : {"10.0.0.2", "10.0.0.3"})
    EXPECT_EQ(World::told(w.begin(World::request(), address)), "open");
  EXPECT_EQ(w.ask(World::request(), "10.0.0.4"), busy);
  w.api.release();
  w.host.run();
}

// The API server still works on it.
TEST(Limits, ACallOfWhoHasGoneCountsUntilItsQuestionIsAnswered) {
  World w({{"calls_per_address_max", 1}});
  w.api.hold = true;
  w.begin(World::request()).cancel();
  w.host.run();
  EXPECT_EQ(w.ask(World::request()), busy);
  w.api.let_go();
  w.host.run();
  w.api.hold = false;
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

TEST(Limits, OneNamespaceHasSoManyCallsOpen) {
  World w({{"calls_per_namespace_max", 1}});
  w.api.add_pod("api-1", "d_1", "other");
  w.vault.hold = true;
  auto& first = w.begin(World::request(), "10.0.0.1");
  EXPECT_EQ(w.ask(World::request(), "10.0.0.2"), busy);
  EXPECT_TRUE(w.host.logged("calls_per_namespace_max"));
  auto& other = w.begin(World::request("api-1"), "10.0.0.3");
  EXPECT_EQ(World::told(other), "open");
  w.vault.release();
  w.host.run();
  EXPECT_EQ(World::told(first), "A=one B=two");
  EXPECT_EQ(World::told(other), "A=one B=two");
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

TEST(Limits, OneAddressIsAskedForSoMuchASecond) {
  World w({{"reviews_per_second_per_address", 1}});
  for (int n = 0; n < 4; ++n) EXPECT_EQ(w.ask(World::request()), "A=one B=two");
  EXPECT_EQ(w.ask(World::request()), busy);
  EXPECT_EQ(w.ask(World::request(), "10.0.0.2"), "A=one B=two");
  w.host.advance(1s);
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

TEST(Limits, AllAreAskedForSoMuchASecond) {
  World w({{"reviews_per_second", 1}});
  for (const char* address : {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"})
    EXPECT_EQ(w.ask(World::request(), address), "A=one B=two");
  EXPECT_EQ(w.ask(World::request(), "10.0.0.5"), busy);
  EXPECT_EQ(w.host.metric("davit_secrets_blob_reviews_total"), 4);
  EXPECT_EQ(w.host.metric("davit_secrets_blob_failures_total", {{"what", "busy"}}), 1);
}

TEST(Limits, ARefusedTokenIsNotAskedForAgainAtOnce) {
  World w({{"refused_token_ms", 5'000}});
  const auto guess = [&] { return w.ask_with([](auto& m) { m.set_token("guessed"); }); };
  for (int n = 0; n < 100; ++n) EXPECT_EQ(guess(), refused);
  EXPECT_EQ(w.api.asked.size(), 1u);
  w.host.advance(5s);
  w.api.tokens["guessed"] = w.api.tokens["token-web-1"];
  EXPECT_EQ(guess(), "A=one B=two");
}

// Its pod may be there a moment later, or its labels may be right.
TEST(Limits, AGoodTokenIsAskedForEachTime) {
  World w;
  EXPECT_EQ(w.ask_with([](auto& m) { m.set_deployment_id("d_2"); }), refused);
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
  w.api.tokens.clear();
  EXPECT_EQ(w.ask(World::request()), refused) << "no answer is kept";
}

TEST(Limits, RefusalsAreLoggedOnceAMinute) {
  World w;
  const auto lines = [&] {
    size_t n = 0;
    for (const auto& line : w.host.log())
      n += line.message == "a pod's secrets were not given" ? 1 : 0;
    return n;
  };
  for (int n = 0; n < 15; ++n) w.ask_with([](auto& m) { m.set_deployment_id("d_2"); });
  EXPECT_EQ(lines(), 1u);
  w.host.advance(60s);
  w.ask_with([](auto& m) { m.set_deployment_id("d_2"); });
  EXPECT_EQ(lines(), 2u);
  EXPECT_TRUE(w.host.logged("not_logged=14"));
  EXPECT_EQ(w.host.metric("davit_secrets_blob_failures_total", {{"what", "refused"}}), 16);
}

}  // namespace
}  // namespace davit::secrets_blob
