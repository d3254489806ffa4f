// What is sent, and what comes of it.
#include "fixture.hpp"

namespace davit::secrets_transit {
namespace {

using Calls = BesideVault;

TEST_F(Calls, EachKeyringIsABatchAndEachSecretARead) {
  Life life(config({{"kv_folder", "env/{keyring}"}, {"key", "davit-{keyring}"}}));
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  const auto results = life.resolve({sealed("a", "1"),
                                     sealed("b", "2"),
                                     sealed("a", "3"),
                                     sealed("a", "1"),
                                     {DAVIT_SECRET_DECRYPT, "a", "kv:web#password@2", {}, {}, {}},
                                     {DAVIT_SECRET_READ, {}, {}, "apps/x", "password", {}}});
  const Asked wanted{
      "1", "2", "3", "1", "of secret/data/env/a/web?version=2", "of secret/data/apps/x"};
  for (size_t n = 0; n < results.size(); ++n) EXPECT_EQ(told(results[n]), wanted[n]);
  EXPECT_EQ(results[4]->version, "3");
  EXPECT_EQ(vault.asked(),
            Asked({"POST transit/decrypt/davit-a by t0", "POST transit/decrypt/davit-b by t0",
                   "GET secret/data/apps/x by t0", "GET secret/data/env/a/web?version=2 by t0"}));
}

TEST_F(Calls, ABadItemTakesNothingFromTheOthers) {
  Life life(config());
  Item bad = sealed("a", "x");
  bad.ciphertext = "vault:v1:AAAA";
  const auto results = life.resolve({sealed("a", "1"), bad, sealed("a", "2")});
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(told(results[1]).substr(0, 36), "3: the vault cannot decrypt the item");
  EXPECT_EQ(results[1].error().where, "a");
  EXPECT_EQ(told(results[2]), "2");
  EXPECT_EQ(vault.asked().size(), 1u) << "nothing is asked twice";
}

TEST_F(Calls, NamespaceAndMountsAreThoseOfTheSettings) {
  Life life(config({{"namespace", "team/a/"}, {"transit_mount", "keys/t"}, {"kv_mount", "kv"}}));
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_NE(vault.last().find("X-Vault-Namespace: team/a\r\n"), std::string::npos);
  EXPECT_NE(vault.last().find("X-Vault-Request: true\r\n"), std::string::npos);
  life.resolve({{DAVIT_SECRET_READ, {}, {}, "x", "password", {}}});
  EXPECT_EQ(vault.asked(), Asked({"POST keys/t/decrypt/a by t0", "GET kv/data/x by t0"}));
}

TEST_F(Calls, ValuesAreKeptWithTheirVersion) {
  Life life(config({{"cache_ms", 600'000}}));
  const Item item{DAVIT_SECRET_READ, {}, {}, "x", "password", {}};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(life.resolve({item})[0]->version, "3");
  EXPECT_EQ(vault.asked().size(), 1u);
}

TEST_F(Calls, ASealedVaultIsTriedAgainAndItsReasonTold) {
  Life life(config({{"attempts_max", 3}, {"retry_first_ms", 1}, {"retry_most_ms", 2}}));
  vault.script([](auto&&...) { return R"(503 {"errors":["Vault is sealed"]})"; });
  EXPECT_EQ(life.one(sealed("a", "1")), "14: the vault is sealed: it has to be unsealed");
  EXPECT_EQ(vault.asked().size(), 3u);
  vault.script(nullptr);
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
}

TEST_F(Calls, AfterFailuresInARowTheBreakerOpens) {
  Life life(config({{"breaker_failures_max", 2}, {"breaker_open_ms", 600'000}}));
  vault.script([](auto&&...) { return "503 "; });
  for (int n = 0; n < 4; ++n) EXPECT_EQ(life.one(sealed("a", "1")).substr(0, 4), "14: ");
  EXPECT_EQ(vault.asked().size(), 2u);
}

TEST_F(Calls, WhatPoliciesForbidFailsItsKeyringAlone) {
  Life life(config());
  vault.script([](const std::string& path, const std::string&) {
    return path.ends_with("/b") ? R"(403 {"errors":["permission denied"]})" : "";
  });
  const auto results = life.resolve({sealed("a", "1"), sealed("b", "2"), sealed("c", "3")});
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(told(results[1]), "7: the vault's policies do not allow it");
  EXPECT_EQ(told(results[2]), "3");
}

TEST_F(Calls, NothingIsShown) {
  Life life(config());
  vault.script([](auto&&...) { return R"(400 {"errors":["hunter2 dDA="]})"; });
  const std::string said = life.one(sealed("a", "hunter2"));
  EXPECT_EQ(said, "3: the vault refuses to decrypt the item");
  std::string shown;
  for (const auto& line : life.host.log()) shown += line.text();
  for (const char* hidden : {"hunter2", "aHVudGVyMg=="})
    EXPECT_EQ(shown.find(hidden), std::string::npos) << shown;
}

}  // namespace
}  // namespace davit::secrets_transit
