// What the configuration may say.
#include "settings.hpp"

#include "world.hpp"

namespace davit::secrets_blob {
namespace {

using testing::Config;

Config whole(std::initializer_list<Config::Entry> more = {}) {
  Config out{{"cluster", "c"}, {"secrets", "s"}};
  for (const auto& entry : more) out.set(entry);
  return out;
}
std::string created(const Config& config) {
  const auto module = testing::Loaded::open(SECRETS_BLOB_SO);
  testing::TestHost host("blob", config);
  testing::Instance instance(module->plugin(), host);
  const auto r = instance.create();
  return r.ok() ? "" : r.error().message;
}

TEST(Settings, ClusterAndSecretsAreEnough) {
  EXPECT_EQ(created(whole()), "");
  const testing::TestHost host("blob", whole());
  const auto s = BlobSettings::read(host);
  EXPECT_EQ(s.label_prefix, "unkey.com/");
  EXPECT_EQ(s.audiences, std::vector<std::string>());
  EXPECT_EQ(s.blob_bytes_max, 1u << 20);
  EXPECT_LT(s.request_bytes_max(), 2u << 20);
}

TEST(Settings, WhatCannotBeIsRefused) {
  struct Row {
    Config config;
    const char* error;
  };
  for (const Row& row :
       {Row{{{"cluster", "c"}}, "is missing"}, Row{{{"secrets", "s"}}, "is missing"},
        Row{whole({{"audiences", {""}}}), "an audience is empty"},
        Row{whole({{"audiences", "davit"}}), "must be an array"},
        Row{whole({{"label_prefix", "unkey.com"}}), "must be empty or a DNS name"},
        Row{whole({{"timeout_ms", 0}}), "must be between"},
        Row{whole({{"refused_token_ms", -1}}), "must be between"},
        Row{whole({{"blob_bytes_max", 0}}), "must be between"},
        Row{whole({{"token_bytes_max", 10}}), "must be between"},
        Row{whole({{"variables_max", 0}}), "must be between"},
        Row{whole({{"calls_max", 1}}), "must be between"},
        Row{whole({{"calls_per_address_max", 0}}), "must be between"},
        Row{whole({{"calls_per_namespace_max", 0}}), "must be between"},
        Row{whole({{"reviews_per_second", 0}}), "must be between"},
        Row{whole({{"reviews_per_second_per_address", 0}}), "must be between"},
        Row{whole({{"audience", "davit"}}), "audience"}}) {
    const std::string error = created(row.config);
    EXPECT_NE(error.find(row.error), std::string::npos) << error << " / " << row.error;
  }
}

TEST(Settings, ANeighbourThatIsNotThereIsNamed) {
  testing::TestHost host("blob", whole());
  testing::FakeRpc rpc(host.host().service<davit_exec>(DAVIT_EXEC));
  host.add_service(DAVIT_RPC, rpc.table());
  const auto module = testing::Loaded::open(SECRETS_BLOB_SO);
  testing::Instance instance(module->plugin(), host);
  ASSERT_TRUE(instance.create().ok());
  const auto r = instance.wire();
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().message.find("\"c\""), std::string::npos) << r.error().message;
}

}  // namespace
}  // namespace davit::secrets_blob
