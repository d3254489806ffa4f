// The settings, and what `davit check` and a start say of them.
#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

std::string create_fault(const testing::Config& config) {
  testing::TestHost host("vault", config);
  testing::Instance instance(plugin(), host);
  const auto r = instance.create();
  return r.ok() ? "" : r.error().message;
}

class SettingsTest : public OnFiles {
 protected:
  // What check says, which is what a start says.
  static std::string fault(const testing::Config& config) {
    testing::TestHost host("vault", config);
    testing::Instance instance(plugin(), host);
    EXPECT_EQ(create_fault(config), "");
    EXPECT_TRUE(instance.create().ok());
    EXPECT_TRUE(instance.wire().ok());
    const auto check = instance.check();
    EXPECT_TRUE(host.log().empty()) << "a check only says it";
    const auto start = instance.start();
    EXPECT_EQ(check.ok() ? "" : check.error().message, start.ok() ? "" : start.error().message);
    return start.ok() ? "" : start.error().message;
  }
};

TEST(FileSettings, SayWhereTheKeysAre) {
  EXPECT_TRUE(has(create_fault({}), "is missing, and so is keyrings_dir"));
  EXPECT_TRUE(has(create_fault({{"directory", "/sealed"}}), "is missing, and so is keyrings_dir"));
  EXPECT_EQ(create_fault({{"key_file", "/agent.key"}}), "");
  EXPECT_EQ(create_fault({{"key_file", "credential:agent"}}), "");
  EXPECT_EQ(create_fault({{"keyrings_dir", "/keyrings"}}), "");
}

TEST(FileSettings, WhatCannotBeIsRefused) {
  struct Row {
    testing::Config config;
    const char* fault;
  };
  for (const Row& row :
       {Row{{{"key_file", ""}}, "key_file: must not be empty"},
        Row{{{"key_file", std::string("a\0b", 3)}}, "must not contain a zero byte"},
        Row{{{"key_file", 5}}, "must be a string"},
        Row{{{"keyrings_dir", "credential:x"}}, "is a folder, and a credential is a file"},
        Row{{{"key_file", "/k"}, {"directory", "credential:x"}}, "is a folder"},
        Row{{{"key_file", "/k"}, {"value_bytes_max", 0}}, "must be between 1 and 16777216"},
        Row{{{"key_file", "/k"}, {"value_bytes_max", 1 << 30}}, "must be between 1 and 16777216"},
        Row{{{"key_file", "/k"}, {"keyring_dir", "/x"}}, "unknown key"}})
    EXPECT_TRUE(has(create_fault(row.config), row.fault)) << create_fault(row.config);
}

TEST_F(SettingsTest, KeysThatCanBeUsedAreTaken) {
  write_file(own_key_file("prod"), key_lines(pair_));
  EXPECT_EQ(fault(config()), "");
  EXPECT_EQ(fault({{"key_file", key_file()}}), "");
  EXPECT_EQ(fault({{"keyrings_dir", folder_.path() + "/keyrings"}}), "");
}

TEST_F(SettingsTest, KeysThatCannotBeUsedAreNamed) {
  const std::string missing = folder_.path() + "/none";
  EXPECT_EQ(fault({{"key_file", missing}}), "key_file: " + missing + ": No such file or directory");
  EXPECT_EQ(fault({{"key_file", folder_.path()}}), "key_file: " + folder_.path() + ": is no file");
  EXPECT_EQ(fault({{"keyrings_dir", missing}}),
            "keyrings_dir: " + missing + ": No such file or directory");
  EXPECT_EQ(fault({{"key_file", key_file()}, {"directory", missing}}),
            "directory: " + missing + ": No such file or directory");
  write_file(key_file(), "not a key\n");
  EXPECT_EQ(fault({{"key_file", key_file()}}),
            "key_file: " + key_file() +
                ": line 1: is no private key of davit-seal: it begins with \"davitSecret/1/\"");
  write_file(key_file(), key_lines(pair_), 0644);
  EXPECT_EQ(fault({{"key_file", key_file()}}),
            "key_file: " + key_file() + ": its mode 0644 lets others read or change it: chmod 600");
}

TEST_F(SettingsTest, EachKeyringIsLookedAt) {
  const std::string folder = folder_.path() + "/keyrings";
  EXPECT_EQ(fault({{"keyrings_dir", folder}}),
            "keyrings_dir: " + folder +
                " has no file KEYRING.key: make one with davit-seal keygen "
                "-o " +
                folder + "/KEYRING.key");
  EXPECT_EQ(fault(config()), "") << "key_file has keys";
  write_file(own_key_file("a"), key_lines(pair_));
  write_file(folder + "/README", "not looked at");
  EXPECT_EQ(fault({{"keyrings_dir", folder}}), "");
  write_file(own_key_file("b"), key_lines(pair_), 0640);
  EXPECT_EQ(fault({{"keyrings_dir", folder}}),
            "keyrings_dir: " + own_key_file("b") +
                ": its mode 0640 lets others read or change it: chmod 600");
}

TEST_F(SettingsTest, AStartSaysWhichKeysThereAre) {
  const Life life({{"key_file", key_file()}});
  EXPECT_TRUE(life.host.logged("info: keys read file=" + key_file() +
                               " keys=1 newest=" + pair_.open().text()));
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(SettingsTest, ADirectoryWithoutAKeyFileIsWarnedOf) {
  write_file(own_key_file("prod"), key_lines(pair_));
  const Life life(
      {{"keyrings_dir", folder_.path() + "/keyrings"}, {"directory", folder_.path() + "/sealed"}});
  EXPECT_TRUE(life.host.logged("warn: without key_file only items that name a keyring"));
}

}  // namespace
}  // namespace davit::secrets_file
