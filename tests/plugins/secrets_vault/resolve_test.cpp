// Against a Vault that works: values, bad items, batches, the cache, tokens.
#include "fixture.hpp"

namespace davit::secrets_vault {
namespace {

using Resolve = OnVault;
using Asked = std::vector<std::string>;

TEST_F(Resolve, ABatchIsOneCallAndKeepsItsOrder) {
  Life life(config());
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  const auto results = life.resolve({item("env_1", "b"), item("env_1", ""), item("env_1", "a c")});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(told(results[0]), "b");
  EXPECT_EQ(told(results[1]), "");
  EXPECT_EQ(told(results[2]), "a c");
  EXPECT_EQ(asked(), Asked({"env_1 x3: ok"}));
}

TEST_F(Resolve, ValuesOfAnyTextComeBackAsTheyAre) {
  Life life(config());
  const std::string large(300'000, 'l');
  for (const std::string& plaintext : {std::string("line\nline\n"), std::string("\0zero", 5),
                                       std::string("schl\u00fcssel"), large})
    EXPECT_TRUE(told(life.resolve_one(item("env_1", plaintext))) == plaintext);
}

TEST_F(Resolve, EachKeyringHasACallOfItsOwn) {
  Life life(config());
  const auto results = life.resolve(
      {item("env_1", "1"), item("env_2", "2"), item("env_1", "3"), item("env_2", "4")});
  for (size_t n = 0; n < results.size(); ++n) EXPECT_EQ(told(results[n]), std::to_string(n + 1));
  EXPECT_EQ(asked(), Asked({"env_1 x2: ok", "env_2 x2: ok"}));
}

TEST_F(Resolve, TheSameItemTwiceIsAskedForOnce) {
  Life life(config());
  const auto results = life.resolve({item("e", "1"), item("e", "2"), item("e", "1")});
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(told(results[2]), "1");
  EXPECT_EQ(asked(), Asked({"e x2: ok"}));
}

TEST_F(Resolve, OneBadItemTakesNoValueFromTheOthers) {
  Life life(config());
  std::vector<Item> items;
  for (int n = 0; n < 8; ++n) items.push_back(item("e", std::to_string(n)));
  items[5] = bad_item("e");
  const auto results = life.resolve(items);
  for (size_t n = 0; n < results.size(); ++n) {
    if (n == 5) {
      EXPECT_EQ(code_of(results[n]), Code::invalid_argument) << told(results[n]);
      EXPECT_EQ(results[n].error().where, "e");
    } else {
      EXPECT_EQ(told(results[n]), std::to_string(n));
    }
  }
  EXPECT_EQ(asked(), Asked({"e x8: internal", "e x4: ok", "e x4: internal", "e x2: internal",
                            "e x1: ok", "e x1: internal", "e x2: ok"}));
}

TEST_F(Resolve, ABadItemAloneIsBad) {
  Life life(config());
  EXPECT_EQ(code_of(life.resolve_one(bad_item("e"))), Code::invalid_argument);
  EXPECT_EQ(asked(), Asked({"e x1: internal"}));
}

TEST_F(Resolve, AnUnknownKeyringIsNotFound) {
  Life life(config());
  behave("fail", R"("code": "not_found")");
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::not_found);
}

TEST_F(Resolve, ATokenThatMayNotUseAKeyringMayUseTheOthers) {
  Life life(config());
  behave("fail", R"("code": "permission_denied")");
  const auto results = life.resolve({item("e1", "1"), item("e1", "2"), item("e2", "3")});
  EXPECT_EQ(code_of(results[0]), Code::permission_denied);
  EXPECT_EQ(code_of(results[1]), Code::permission_denied);
  EXPECT_EQ(told(results[2]), "3");
  EXPECT_EQ(asked(), Asked({"e1 x2: permission_denied", "e2 x1: ok"}));
}

TEST_F(Resolve, ALargeBatchIsDividedByItems) {
  Life life(config({{"batch_items_max", 2}}));
  std::vector<Item> items;
  for (int n = 0; n < 5; ++n) items.push_back(item("e", std::to_string(n)));
  const auto results = life.resolve(items);
  for (size_t n = 0; n < results.size(); ++n) EXPECT_EQ(told(results[n]), std::to_string(n));
  EXPECT_EQ(asked(), Asked({"e x2: ok", "e x2: ok", "e x1: ok"}));
}

TEST_F(Resolve, ALargeBatchIsDividedByBytes) {
  Life life(config({{"batch_bytes_max", 10'000}}));
  std::vector<Item> items;
  for (int n = 0; n < 3; ++n)
    items.push_back(item("e", std::string(3'000, static_cast<char>('a' + n))));
  items.push_back(item("e", std::string(10'000, 'x')));
  const auto results = life.resolve(items);
  EXPECT_EQ(told(results[2]), std::string(3'000, 'c'));
  EXPECT_TRUE(has(told(results[3]), "(batch_bytes_max)")) << told(results[3]);
  EXPECT_EQ(code_of(results[3]), Code::invalid_argument);
  EXPECT_EQ(asked(), Asked({"e x2: ok", "e x1: ok"}));
}

TEST_F(Resolve, WhatNoCallCouldResolveIsNotAskedFor) {
  Life life(config());
  Item no_text = item("e", "1"), no_keyring = item("", "1");
  no_text.ciphertext = "\xff";
  Item read;
  read.type = DAVIT_SECRET_READ;
  read.ref = "apps/web/database";
  const auto results = life.resolve({no_text, no_keyring, read, item("e", "2")});
  EXPECT_EQ(code_of(results[0]), Code::invalid_argument);
  EXPECT_EQ(code_of(results[1]), Code::invalid_argument);
  EXPECT_EQ(code_of(results[2]), Code::unimplemented);
  EXPECT_EQ(results[2].error().where, "apps/web/database");
  EXPECT_EQ(told(results[3]), "2");
  EXPECT_EQ(asked(), Asked({"e x1: ok"}));
}

TEST_F(Resolve, WhatIsKeptIsNotAskedForAgain) {
  Life life(config({{"cache_ms", 60'000}}));
  life.resolve({item("e", "1"), item("e", "2")});
  const auto results = life.resolve({item("e", "1"), item("e", "3"), item("other", "1")});
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(told(results[1]), "3");
  EXPECT_EQ(told(results[2]), "1");
  EXPECT_EQ(asked(), Asked({"e x2: ok", "e x1: ok", "other x1: ok"}));
  EXPECT_EQ(life.host.metric("davit_secrets_cache_hits_total", {{"secrets", "vault"}}), 1);
  EXPECT_EQ(life.host.metric("davit_secrets_cache_misses_total", {{"secrets", "vault"}}), 4);
  EXPECT_EQ(life.host.metric("davit_secrets_cache_values", {{"secrets", "vault"}}), 4);
}

TEST_F(Resolve, WhatIsKeptIsWipedThoughNobodyAsksForIt) {
  Life life(config({{"cache_ms", 50}}));
  life.resolve({item("e", "1")});
  EXPECT_TRUE(life.host.run_until(
      [&] {
        return life.host.metric("davit_secrets_cache_values", {{"secrets", "vault"}}) == 0;
      },
      patience));
}

TEST_F(Resolve, NoMoreIsKeptThanTheSettingsSay) {
  for (const auto& entry :
       {Config::Entry("cache_entries", 2), Config::Entry("cache_bytes", 8'192)}) {
    Life life(config({{"cache_ms", 60'000}, entry}));
    life.resolve({item("e", "1"), item("e", "2"), item("e", "3")});
    EXPECT_EQ(life.host.metric("davit_secrets_cache_values", {{"secrets", "vault"}}), 2);
  }
}

TEST_F(Resolve, TheItemsOfASilentVaultAreServedFromTheCache) {
  Life life(config({{"cache_ms", 60'000}}));
  life.resolve({item("e", "1")});
  vault().ask(R"({"do": "down"})");
  const auto results = life.resolve({item("e", "1"), item("e", "2")});
  EXPECT_EQ(told(results[0]), "1");
  EXPECT_EQ(code_of(results[1]), Code::unavailable);
}

TEST_F(Resolve, AWrongTokenIsUnauthenticatedAndSaidOnce) {
  write(token_file(), "wrong");
  Life life(config());
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unauthenticated);
  }
  EXPECT_EQ(asked(), Asked(3, "e x1: unauthenticated")) << "the same token is not sent twice";
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
  write(token_file(), token);
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  const auto log = life.host.log();
  EXPECT_EQ(
      std::count_if(log.begin(), log.end(),
                    [](const auto& line) { return has(line.text(), "does not accept the token"); }),
      1);
  EXPECT_TRUE(life.host.logged("the vault accepts the token again"));
}

TEST_F(Resolve, ATokenThatIsReplacedUnderACallIsReadAgain) {
  Life life(config());
  vault().ask(R"({"do": "rotate", "token": "another", "tell": ")" + token_file() + "\"}");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(asked(), Asked({"e x1: unauthenticated", "e x1: ok"}));
}

TEST_F(Resolve, WhileTheTokenFileHoldsNoneTheLastOneIsUsed) {
  Life life(config());
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  for (const char* text : {"", "half a token", "\xff\xfe"}) {
    write(token_file(), text);
    for (int again = 0; again < 2; ++again) EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  }
  std::remove(token_file().c_str());
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  write(token_file(), token);
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  const auto log = life.host.log();
  EXPECT_EQ(std::count_if(
                log.begin(), log.end(),
                [](const auto& line) { return has(line.text(), "the token file cannot be read"); }),
            2)
      << "it holds no token, it is not there";
  EXPECT_TRUE(life.host.logged("the token file can be read again"));
}

TEST_F(Resolve, TheVaultIsToldHowLongWeWait) {
  Life life(config({{"request_timeout_ms", 120'000}}));
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"), life.within(60s))), "1");
  const auto answer = vault().ask(R"({"do": "calls"})");
  const auto& calls = answer.at("calls").as_array();
  EXPECT_GT(calls[0].at("timeout").as_int64(), 60'000);
  EXPECT_LE(calls[0].at("timeout").as_int64(), 120'000);
  EXPECT_LE(calls[1].at("timeout").as_int64(), 60'000);
}

TEST_F(Resolve, ItemsAreCountedByTheirCodes) {
  Life life(config());
  life.resolve({item("e", "1"), bad_item("e"), item("e", "2")});
  EXPECT_EQ(life.host.metric("davit_secrets_items_total", {{"code", "ok"}, {"secrets", "vault"}}),
            2);
  EXPECT_EQ(life.host.metric("davit_secrets_items_total",
                             {{"code", "invalid_argument"}, {"secrets", "vault"}}),
            1);
  EXPECT_GT(life.calls("ok"), 0);
  EXPECT_GT(life.calls("internal"), 0);
}

}  // namespace
}  // namespace davit::secrets_vault
