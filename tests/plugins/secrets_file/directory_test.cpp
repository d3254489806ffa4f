// Items to read: files below a directory, which others replace, and out of which no path leads.
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

namespace fs = std::filesystem;

class Directory : public OnFiles {};

TEST_F(Directory, AFileIsAValue) {
  put_sealed("apps/web/database", "hunter2");
  put_sealed("empty", "");
  const Life life(config());
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  EXPECT_EQ(life.one(to_read("apps/web/database")), "hunter2");
  EXPECT_EQ(life.one(to_read("empty")), "");
  EXPECT_EQ(life.one(to_read("apps/web/nothing")), "5 there is no such file");
  EXPECT_EQ(life.one(to_read("apps/web")), "5 is no file");
  EXPECT_EQ(life.one(to_read("apps/web/database/more")), "5 there is no such file");
}

TEST_F(Directory, AFileMayHaveTheBytesThemselves) {
  write_file(sealed_file("raw"), Sealed::make(pair_.open(), {"", "raw"}, "value")->bytes());
  const Life life(config());
  EXPECT_EQ(life.one(to_read("raw")), "value");
}

TEST_F(Directory, AFileIsAnObjectOfFields) {
  put_sealed("db", "{\"user\": \"web\", \"port\": 5432, \"more\": {}}");
  put_sealed("text", "plain");
  const Life life(config());
  EXPECT_EQ(life.one(to_read("db", "user")), "web");
  EXPECT_EQ(life.one(to_read("db", "port")), "5432");
  EXPECT_EQ(life.one(to_read("db")), "{\"user\": \"web\", \"port\": 5432, \"more\": {}}");
  EXPECT_EQ(life.one(to_read("db", "password")), "5 has no such field");
  EXPECT_EQ(life.one(to_read("text", "user")), "5 is no JSON object, so it has no fields");
  EXPECT_TRUE(life.one(to_read("db", "more")).starts_with("3 its field is an object"));
}

TEST_F(Directory, TheVersionIsTheFilesOwn) {
  put_sealed("db", "first");
  const Life life(config());
  const auto ask = [&](const std::string& version) {
    return std::move(life.ask({to_read("db", "", version)}).front());
  };
  const std::string first = ask("")->version;
  EXPECT_EQ(first.size(), 32u);
  EXPECT_EQ(ask(first)->secret.view(), "first");
  const std::string text = seal(pair_, "", "second", "db");
  write_file(sealed_file("db"), text);
  EXPECT_EQ(ask(first).error().code, Code::not_found);
  const std::string second = ask("")->version;
  EXPECT_NE(second, first);
  write_file(sealed_file("db"), text.substr(0, 60) + "\n" + text.substr(60) + "\n");
  EXPECT_EQ(ask(second)->secret.view(), "second") << "line ends are no other version";
  EXPECT_EQ(ask("7").error().code, Code::not_found);
}

// Whoever may write the directory, and not open its files, could otherwise give one for another.
TEST_F(Directory, AFileIsReadUnderTheNameThatItWasSealedFor) {
  put_sealed("prod/db", "production");
  fs::create_directories(sealed_file("dev"));
  fs::copy_file(sealed_file("prod/db"), sealed_file("dev/db"));
  write_file(sealed_file("k"), seal(pair_, "k", "of a keyring"));
  const Life life(config());
  EXPECT_EQ(life.one(to_read("prod/db")), "production");
  EXPECT_EQ(life.one(to_read("dev/db")),
            "14 its file: was sealed for another ref: seal the value anew (davit-seal --ref)");
  EXPECT_TRUE(life.one(to_read("k")).starts_with("14 its file: was sealed for another keyring"));
}

TEST_F(Directory, AnItemThatNamesAKeyringReadsWhatWasSealedForIt) {
  const KeyPair prod = new_pair();
  write_file(own_key_file("prod"), key_lines(prod));
  write_file(sealed_file("db"), seal(prod, "prod", "value", "db"));
  const Life life(config());
  Item item = to_read("db");
  item.keyring = "prod";
  EXPECT_EQ(life.one(item), "value");
  EXPECT_TRUE(life.one(to_read("db")).starts_with("14 its file: cannot be opened"));
}

TEST_F(Directory, ARefIsNoWayOut) {
  write_file(folder_.path() + "/outside", seal(pair_, "", "outside", "../outside"));
  const Life life(config());
  for (const std::string& ref :
       {std::string("../outside"), folder_.path() + "/outside", std::string("a/../../outside"),
        std::string(".."), std::string("."), std::string(), std::string("a//b"),
        std::string("a\0b", 3), std::string(300, 'x')}) {
    const Results results = life.ask({to_read(ref)});
    ASSERT_FALSE(results[0].ok());
    EXPECT_EQ(results[0].error().code, Code::invalid_argument) << ref;
    EXPECT_TRUE(ref.starts_with(results[0].error().where)) << "an error has room for 255 bytes";
  }
}

TEST_F(Directory, ASymbolicLinkThatLeadsOutIsRefused) {
  write_file(folder_.path() + "/outside/db", seal(pair_, "", "outside", "link"));
  put_sealed("inside", "inside");
  fs::create_symlink("../outside/db", sealed_file("link"));
  fs::create_symlink(folder_.path() + "/outside/db", sealed_file("absolute"));
  fs::create_symlink("../outside", sealed_file("folder"));
  fs::create_symlink("/dev/zero", sealed_file("endless"));
  fs::create_symlink("/proc/self/fd/0", sealed_file("magic"));
  fs::create_symlink("circle", sealed_file("circle"));
  fs::create_symlink("nowhere", sealed_file("dangling"));
  const Life life(config());
  const std::string out = "7 a symbolic link on its path leads out of the directory";
  for (const char* ref : {"link", "absolute", "folder/db", "endless", "magic"})
    EXPECT_EQ(life.one(to_read(ref)), out) << ref;
  EXPECT_EQ(life.one(to_read("circle")), "7 its path has too many symbolic links");
  EXPECT_EQ(life.one(to_read("dangling")), "5 there is no such file");
}

// As Kubernetes mounts a Secret: db -> ..data/db, ..data -> ..2026_01_01.
TEST_F(Directory, ASymbolicLinkThatStaysInsideIsFollowed) {
  write_file(sealed_file("..2026_01_01/db"), seal(pair_, "", "mounted", "db"));
  fs::create_directory_symlink("..2026_01_01", sealed_file("..data"));
  fs::create_symlink("..data/db", sealed_file("db"));
  const Life life(config());
  EXPECT_EQ(life.one(to_read("db")), "mounted");
}

TEST_F(Directory, WhatIsWrongWithAFileIsTriedAgain) {
  put_sealed("db", "value");
  const Life life(config());
  const std::string good = seal(pair_, "", "value", "db");
  for (const std::string& bad :
       {std::string(), std::string("garbage"), good.substr(0, 40), good.substr(0, good.size() - 4),
        seal(new_pair(), "", "value", "db")}) {
    write_file(sealed_file("db"), bad);
    EXPECT_TRUE(life.one(to_read("db")).starts_with("14 its file: ")) << life.one(to_read("db"));
  }
  write_file(sealed_file("db"), good);
  EXPECT_EQ(life.one(to_read("db")), "value");
}

TEST_F(Directory, ThatIsAwayIsNoMissingFile) {
  put_sealed("db", "value");
  const Life life(config());
  fs::rename(sealed_file(""), folder_.path() + "/away");
  EXPECT_TRUE(life.one(to_read("db")).starts_with("14 directory: ")) << life.one(to_read("db"));
  fs::rename(folder_.path() + "/away", folder_.path() + "/sealed");
  EXPECT_EQ(life.one(to_read("db")), "value");
}

TEST_F(Directory, NeitherAGigabyteNorAPipeHoldsACall) {
  write_file(sealed_file("huge"), "davitSeal/1/");
  fs::resize_file(sealed_file("huge"), uintmax_t{1} << 30);
  ASSERT_EQ(::mkfifo(sealed_file("pipe").c_str(), 0600), 0);
  const Life life(config());
  EXPECT_EQ(life.one(to_read("huge")), "14 its file is larger than value_bytes_max allows");
  EXPECT_EQ(life.one(to_read("pipe")), "5 is no file");
}

// User and password out of one file are those of one moment, whoever replaces it meanwhile.
TEST_F(Directory, FieldsOfOneCallAreOfOneVersion) {
  const auto put = [this](int n) {
    const std::string text = std::to_string(n);
    put_sealed("db", "{\"user\": \"" + text + "\", \"password\": \"" + text + "\"}");
  };
  put(0);
  put_sealed("other", "other");
  const Life life(config());
  std::atomic<bool> over{false};
  std::jthread writer([&] {
    for (int n = 1; !over; ++n) put(n);
  });
  const std::shared_ptr<void> end(nullptr, [&over](void*) { over = true; });
  std::vector<Item> items;
  for (int n = 0; n < 100; ++n)
    for (const Item& item : {to_read("db", "user"), to_read("other"), to_read("db", "password")})
      items.push_back(item);
  for (int call = 0; call < 30; ++call) {
    const Results results = life.ask(items);
    for (size_t n = 0; n < results.size(); ++n) {
      const bool other = n % 3 == 1;
      ASSERT_TRUE(results[n].ok()) << results[n].error().message;
      ASSERT_EQ(results[n]->secret.view(), other ? "other" : results[0]->secret.view());
      ASSERT_EQ(results[n]->version, results[other ? 1 : 0]->version);
    }
  }
}

TEST_F(Directory, WithoutOneTheInstanceOnlyDecrypts) {
  const Life life({{"key_file", key_file()}});
  EXPECT_EQ(life.one(to_read("db")), "12 this instance only decrypts: `directory` is not set");
}

}  // namespace
}  // namespace davit::secrets_file
