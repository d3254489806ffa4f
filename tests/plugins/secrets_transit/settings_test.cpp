// What the configuration may say, and what `davit check` finds.
#include "fixture.hpp"

namespace davit::secrets_transit {
namespace {

class TransitConfiguration : public BesideVault {
 protected:
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
  void refused(std::initializer_list<Config::Entry> more, const std::string& because) {
    const std::string said = created(config(more));
    EXPECT_NE(said.find(because), said.npos) << said;
  }
};

TEST_F(TransitConfiguration, AUrlAndALoginAreEnough) {
  EXPECT_EQ(checked(config()), "");
  EXPECT_EQ(checked(approle()), "");
  Config kubernetes{{"url", "https://vault"}, {"auth", "kubernetes"}, {"role", "davit"}};
  EXPECT_NE(checked(kubernetes), "") << "there is no service account here";
  kubernetes.set({"service_account_file", file("account")});
  EXPECT_EQ(checked(kubernetes), "");
}

TEST_F(TransitConfiguration, AMissingFileIsNamedByItsSetting) {
  std::remove(file("secret_id").c_str());
  EXPECT_TRUE(checked(approle()).starts_with("secret_id_file: "));
  std::remove(file("token").c_str());
  EXPECT_TRUE(checked(config()).starts_with("token_file: "));
}

TEST_F(TransitConfiguration, WhatCannotBeIsRefused) {
  refused({{"auth", "ldap"}}, "must be \"token\", \"approle\" or \"kubernetes\"");
  refused({{"token_file", ""}}, "must name a file");
  refused({{"role_id", "r"}}, "role_id");
  refused({{"key", "one-for-all"}}, "must contain {keyring}");
  refused({{"key", "a/{keyring}"}}, "is no name of a transit key");
  refused({{"kv_folder", "shared"}}, "must contain {keyring}");
  refused({{"kv_folder", "../{keyring}"}}, "is no path");
  refused({{"transit_mount", ""}}, "is no path");
  refused({{"kv_mount", "a//b"}}, "is no path");
  refused({{"namespace", ".."}}, "is no path");
  refused({{"tls_server_name", "x"}}, "needs an https:// url");
  refused({{"surprise", 1}}, "surprise");
  const std::string said = created(approle({{"role_id", ""}, {"secret_id_file", ""}}));
  EXPECT_NE(said.find("role_id: must not be empty"), said.npos) << said;
  EXPECT_NE(said.find("secret_id_file: must name a file"), said.npos) << said;
}

}  // namespace
}  // namespace davit::secrets_transit
