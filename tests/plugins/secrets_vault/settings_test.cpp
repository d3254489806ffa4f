// What the configuration may say, and what `davit check` finds.
#include "fixture.hpp"

namespace davit::secrets_vault {
namespace {

class VaultConfiguration : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(file("token")) << "a-token\n"; }
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }
  Config config(std::initializer_list<Config::Entry> more = {}) {
    Config out{{"url", "https://vault.example"}, {"token_file", file("token")}};
    for (const auto& entry : more) out.set(entry);
    return out;
  }
  static std::string created(const Config& config) {
    testing::TestHost host("vault", config);
    testing::Instance instance(plugin(), host);
    const auto r = instance.create();
    return r.ok() ? "" : r.error().message;
  }
  static std::string checked(const Config& config) {
    testing::TestHost host("vault", config);
    testing::Instance instance(plugin(), host);
    if (auto r = instance.create(); !r.ok()) return r.error().message;
    if (auto r = instance.wire(); !r.ok()) return r.error().message;
    const auto r = instance.check();
    return r.ok() ? "" : r.error().where + ": " + r.error().message;
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(VaultConfiguration, AUrlAndATokenAreEnough) {
  EXPECT_EQ(checked(config()), "");
  EXPECT_EQ(checked(config({{"url", "http://127.0.0.1:8080/behind/a/path/"}})), "");
}

TEST_F(VaultConfiguration, WhatCannotBeIsRefused) {
  struct Row {
    Config config;
    const char* error;
  };
  for (const Row& row :
       {Row{{{"token_file", "/t"}}, "is missing"}, Row{{{"url", "https://v"}}, "is missing"},
        Row{config({{"url", ""}}), "is no URL"}, Row{config({{"token_file", ""}}), "must name"},
        Row{config({{"cache_ms", -1}}), "must be between"},
        Row{config({{"cache_entries", 20'001}}), "must be between"},
        Row{config({{"cache_bytes", -1}}), "must be between"},
        Row{config({{"batch_items_max", 0}}), "must be between"},
        Row{config({{"batch_bytes_max", 1}}), "must be between"},
        Row{config({{"breaker_failures_max", 0}}), "must be between"},
        Row{config({{"breaker_open_ms", 0}}), "must be between"},
        Row{config({{"attempts_max", 0}}), "must be between"},
        Row{config({{"open_calls_max", 0}}), "must be between"},
        Row{config({{"retry_first_ms", 5'000}}), "must not be below retry_first_ms"},
        Row{config({{"retry_most_ms", 10}}), "must not be below retry_first_ms"},
        Row{config({{"tokenfile", "/t"}}), "tokenfile"}}) {
    const std::string error = created(row.config);
    EXPECT_TRUE(has(error, row.error)) << error;
  }
}

TEST_F(VaultConfiguration, ACheckReadsTheTokenAndDoesNotShowIt) {
  for (const char* text : {"", "two words", "\x01\x02"}) {
    std::ofstream(file("token")) << text;
    const std::string error = checked(config());
    EXPECT_TRUE(has(error, "holds no token")) << error;
    EXPECT_FALSE(has(error, "two words"));
  }
  const std::string error = checked(config({{"token_file", file("nothing")}}));
  EXPECT_TRUE(error.starts_with("token_file: ") && has(error, "nothing")) << error;
}

TEST_F(VaultConfiguration, ACheckReadsTheTlsFiles) {
  EXPECT_TRUE(checked(config({{"ca_file", file("nothing")}})).starts_with("ca_file: "));
  const std::string error = checked(config({{"ca_file", file("token")}}));
  EXPECT_TRUE(has(error, "has no PEM")) << error;
  EXPECT_FALSE(has(error, "a-token"));
}

TEST_F(VaultConfiguration, AStartWithoutATokenIsRefused) {
  testing::TestHost host("vault", config({{"token_file", file("nothing")}}));
  testing::Instance instance(plugin(), host);
  EXPECT_FALSE(instance.up().ok());
}

TEST_F(VaultConfiguration, ATokenMayBeACredential) {
  testing::TestHost host("vault", config({{"token_file", "credential:vault"}}));
  host.set_credential("credential:vault", "a-token");
  testing::Instance instance(plugin(), host);
  const auto up = instance.up();
  EXPECT_TRUE(up.ok()) << up.error().message;
}

TEST_F(VaultConfiguration, ANetworkWithoutTlsIsWarnedOf) {
  for (const auto& [url, warned] : {std::pair{"http://vault.example", true},
                                    {"http://127.0.0.1:1", false},
                                    {"https://vault.example", false}}) {
    testing::TestHost host("vault", config({{"url", url}}));
    testing::Instance instance(plugin(), host);
    ASSERT_TRUE(instance.up().ok());
    EXPECT_EQ(host.logged("without TLS"), warned) << url;
  }
}

}  // namespace
}  // namespace davit::secrets_vault
