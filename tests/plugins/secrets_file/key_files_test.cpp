// Which keys open what: keyrings, rotation, files that are replaced, taken away, or readable by
// others. The peer of this plugin is the file system.
#include <sys/stat.h>
#include <unistd.h>

#include "files.hpp"
#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

class KeyFiles : public OnFiles {
 protected:
  testing::Config only_key_file() const { return {{"key_file", key_file()}}; }
  testing::Config only_keyrings() const { return {{"keyrings_dir", folder_.path() + "/keyrings"}}; }
};

constexpr const char* another_key =
    "3 cannot be opened: it was sealed for another key, or is damaged";

TEST_F(KeyFiles, OneKeyOpensWhatItsKeyringsAreFor) {
  const Life life(only_key_file());
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", "p"))), "p");
  EXPECT_EQ(life.one(to_decrypt("dev", seal(pair_, "dev", "d"))), "d");
  EXPECT_EQ(life.one(to_decrypt("", seal(pair_, "", "none"))), "none");
  EXPECT_EQ(life.one(to_decrypt("prod", seal(new_pair(), "prod", "p"))), another_key);
}

// Whoever may only use "dev" finds a ciphertext of "prod" in a record of others.
TEST_F(KeyFiles, WhatWasSealedForOneKeyringIsNotOpenedForAnother) {
  const Life life(only_key_file());
  const std::string fault =
      "3 was sealed for another keyring: seal the value anew (davit-seal --keyring)";
  const std::string prod = seal(pair_, "prod", "p");
  for (const std::string& keyring : {std::string("dev"), std::string(), std::string("prod "),
                                     std::string("Prod"), std::string("prod\0", 5)})
    EXPECT_EQ(life.one(to_decrypt(keyring, prod)), fault) << keyring;
  EXPECT_EQ(life.one(to_decrypt("dev", seal(pair_, "", "for nobody"))), fault);
  EXPECT_EQ(life.one(to_decrypt("", seal(pair_, "", "of a file", "apps/web"))),
            "3 was sealed for a file: seal the value anew (davit-seal without --ref)");
}

TEST_F(KeyFiles, TwoKeyringsHaveKeysOfTheirOwn) {
  const KeyPair prod = new_pair(), dev = new_pair();
  write_file(own_key_file("prod"), key_lines(prod));
  write_file(own_key_file("dev"), key_lines(dev));
  const Life life(only_keyrings());
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  EXPECT_EQ(life.one(to_decrypt("prod", seal(prod, "prod", "p"))), "p");
  EXPECT_EQ(life.one(to_decrypt("dev", seal(dev, "dev", "d"))), "d");
  EXPECT_EQ(life.one(to_decrypt("dev", seal(prod, "dev", "p"))), another_key);
  const Results results = life.ask({to_decrypt("prod", seal(prod, "prod", "p")),
                                    to_decrypt("none", seal(prod, "none", "n")),
                                    to_decrypt("dev", seal(dev, "dev", "d"))});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]->secret.view(), "p");
  EXPECT_EQ(results[1].error().code, Code::not_found);
  EXPECT_EQ(results[1].error().where, "none");
  EXPECT_EQ(results[2]->secret.view(), "d");
}

TEST_F(KeyFiles, AKeyringWithKeysOfItsOwnIsNotOpenedWithThoseOfAll) {
  const KeyPair prod = new_pair();
  write_file(own_key_file("prod"), key_lines(prod));
  const Life life(config());
  EXPECT_EQ(life.one(to_decrypt("prod", seal(prod, "prod", "p"))), "p");
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", "p"))), another_key);
  EXPECT_EQ(life.one(to_decrypt("dev", seal(pair_, "dev", "d"))), "d");
  write_file(own_key_file("prod"), "garbage");
  EXPECT_TRUE(life.one(to_decrypt("prod", seal(pair_, "prod", "p"))).starts_with("14 "))
      << "it is not opened with others while its own cannot be read";
}

TEST_F(KeyFiles, ANameOfAKeyringIsNoPath) {
  write_file(own_key_file("prod"), key_lines(pair_));
  write_file(folder_.path() + "/outside.key", key_lines(pair_));
  const Life life(only_keyrings());
  for (const std::string& keyring :
       {std::string("../outside"), std::string("../keyrings/prod"), std::string("/etc/passwd"),
        std::string("."), std::string(".."), std::string(), std::string(300, 'x'),
        std::string("prod\0", 5)}) {
    const std::string said = life.one(to_decrypt(keyring, seal(pair_, keyring, "p")));
    EXPECT_TRUE(said.starts_with("5 ")) << said;
  }
}

TEST_F(KeyFiles, ARotationGoesOnWithoutARestart) {
  const Life life(only_key_file());
  const std::string old = seal(pair_, "prod", "old");
  EXPECT_EQ(life.one(to_decrypt("prod", old)), "old");
  const KeyPair next = new_pair();
  const std::string recent = seal(next, "prod", "new");
  EXPECT_EQ(life.one(to_decrypt("prod", recent)), another_key);
  write_file(key_file(), key_lines(pair_) + key_lines(next));
  EXPECT_EQ(life.one(to_decrypt("prod", old)), "old");
  EXPECT_EQ(life.one(to_decrypt("prod", recent)), "new");
  EXPECT_TRUE(life.host.logged("keys have changed file=" + key_file() +
                               " keys=2 newest=" + next.open().text()));
  write_file(key_file(), key_lines(next));
  EXPECT_EQ(life.one(to_decrypt("prod", old)), another_key) << "the key was rotated out";
  EXPECT_EQ(life.one(to_decrypt("prod", recent)), "new");
}

TEST_F(KeyFiles, AFileThatIsAwayIsTriedAgain) {
  const Life life(only_key_file());
  const Item item = to_decrypt("prod", seal(pair_, "prod", "p"));
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  const std::string key = key_lines(pair_);
  std::filesystem::remove(key_file());
  EXPECT_EQ(life.one(item), "14 " + key_file() + ": No such file or directory");
  EXPECT_EQ(life.one(item), "14 " + key_file() + ": No such file or directory");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_TRUE(has(life.host.health_reason(), key_file()));
  for (const std::string& half : {std::string(), key.substr(0, key.size() / 2),
                                  key.substr(0, key.size() - 5), std::string(100'000, 'x')}) {
    write_file(key_file(), half);
    EXPECT_TRUE(life.one(item).starts_with("14 ")) << life.one(item);
  }
  write_file(key_file(), key);
  EXPECT_EQ(life.one(item), "p");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_TRUE(life.host.logged("keys can be read again file=" + key_file()));
  size_t warnings = 0;
  for (const auto& line : life.host.log()) warnings += line.level == DAVIT_LOG_WARN ? 1 : 0;
  EXPECT_EQ(warnings, 4u) << "what stays as it is is said once";
}

TEST_F(KeyFiles, AFolderThatIsAwayIsNoMissingKeyring) {
  write_file(own_key_file("prod"), key_lines(pair_));
  const Life life(only_keyrings());
  const Item item = to_decrypt("prod", seal(pair_, "prod", "p"));
  const std::string folder = folder_.path() + "/keyrings";
  std::filesystem::rename(folder, folder + ".away");
  EXPECT_TRUE(life.one(item).starts_with("14 ")) << life.one(item);
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
  std::filesystem::rename(folder + ".away", folder);
  EXPECT_EQ(life.one(item), "p");
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
  write_file(own_key_file("prod"), "garbage");
  EXPECT_TRUE(life.one(item).starts_with("14 ")) << life.one(item);
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_DEGRADED);
  std::filesystem::remove(own_key_file("prod"));
  EXPECT_TRUE(life.one(item).starts_with("5 ")) << life.one(item);
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING) << "a keyring that was removed is no fault";
  EXPECT_TRUE(life.host.logged("keys are gone file=" + own_key_file("prod")));
}

TEST_F(KeyFiles, AFileThatOthersMayReadIsRefused) {
  const Life life(only_key_file());
  const Item item = to_decrypt("prod", seal(pair_, "prod", "p"));
  for (const mode_t mode : {0644, 0604, 0640, 0620, 0602, 0666, 0777}) {
    ::chmod(key_file().c_str(), mode);
    std::array<char, 8> octal{};
    std::snprintf(octal.data(), octal.size(), "%04o", mode);
    EXPECT_EQ(life.one(item), "7 " + key_file() + ": its mode " + octal.data() +
                                  " lets others read or change it: chmod 600");
  }
  for (const mode_t mode : {0600, 0400, 0700}) {
    ::chmod(key_file().c_str(), mode);
    EXPECT_EQ(life.one(item), "p");
  }
}

// Those that Kubernetes mounts and systemd lays out belong to root, and a group or an ACL reads.
TEST_F(KeyFiles, AFileOfAnotherUserMayBeReadByItsGroup) {
  struct stat status {};
  const uid_t self = 1000;
  for (const auto& [owner, mode, good] :
       std::vector<std::tuple<uid_t, mode_t, bool>>{{0, 0440, true},
                                                    {0, 0640, true},
                                                    {0, 0400, true},
                                                    {0, 0444, false},
                                                    {0, 0660, false},
                                                    {0, 0644, false},
                                                    {self, 0440, false},
                                                    {self, 0400, true}}) {
    status.st_uid = owner;
    status.st_mode = S_IFREG | mode;
    EXPECT_EQ(mode_fault(status, self).empty(), good) << owner << " " << mode;
  }
}

TEST_F(KeyFiles, APipeIsNotWaitedFor) {
  std::filesystem::remove(key_file());
  ASSERT_EQ(::mkfifo(key_file().c_str(), 0600), 0);
  write_file(own_key_file("prod"), key_lines(pair_));
  const Life life(config());
  EXPECT_TRUE(has(life.up.ok() ? "" : life.up.error().message, "is no file"));
}

TEST_F(KeyFiles, ACredentialIsReadAnewForEachCall) {
  testing::TestHost host("vault", {{"key_file", "credential:agent"}});
  host.set_credential("credential:agent", key_lines(pair_));
  testing::Instance instance(plugin(), host);
  ASSERT_TRUE(instance.up().ok());
  const secrets::Client client(instance.ref(DAVIT_SECRETS));
  const auto ask = [&](const KeyPair& pair) {
    auto answer = std::make_shared<Answer>();
    client.resolve(
        {to_decrypt("prod", seal(pair, "prod", "p"))},
        [answer](Results results) { answer->come(std::move(results)); }, Op());
    return answer->wait().front().ok();
  };
  const KeyPair next = new_pair();
  EXPECT_TRUE(ask(pair_));
  EXPECT_FALSE(ask(next));
  host.set_credential("credential:agent", key_lines(next) + "\n");
  EXPECT_TRUE(ask(next));
  host.set_credential("credential:agent", "garbage");
  EXPECT_FALSE(ask(next));
  EXPECT_TRUE(instance.stop().ok());
}

TEST_F(KeyFiles, AKeyFileMayBeASymbolicLink) {
  std::filesystem::rename(key_file(), folder_.path() + "/real");
  std::filesystem::create_symlink("real", key_file());
  const Life life(only_key_file());
  EXPECT_EQ(life.one(to_decrypt("prod", seal(pair_, "prod", "p"))), "p");
}

// Callers choose the names of keyrings.
TEST_F(KeyFiles, NamesOfKeyringsThatAreNotThereFillNeitherLogNorHealth) {
  write_file(own_key_file("prod"), key_lines(pair_));
  const Life life(only_keyrings());
  const size_t before = life.host.log().size();
  std::vector<Item> items;
  for (int n = 0; n < 5'000; ++n)
    items.push_back(to_decrypt("k" + std::to_string(n), seal(pair_, "x", "p")));
  for (const auto& result : life.ask(items)) EXPECT_EQ(result.error().code, Code::not_found);
  EXPECT_EQ(life.host.log().size(), before);
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING);
}

}  // namespace
}  // namespace davit::secrets_file
