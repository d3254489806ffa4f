#include "config/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace davit::host {
namespace {

using Lines = std::vector<std::string>;

class Reading : public testing::Test {
 protected:
  const Config& parse(std::string_view text) {
    config_ = std::make_unique<Config>(Config::parse(text, "/etc/davit/a.toml", faults_));
    return *config_;
  }
  Table table(std::string_view text) { return parse(text).table("t", faults_); }
  Faults faults_;

 private:
  std::unique_ptr<Config> config_;
};

TEST_F(Reading, GivesValuesOfTheirType) {
  const Table t = table("[t]\ns = \"x\"\ni = -3\nb = true\nms = 250\nwords = [\"a\", \"b\"]\n");
  EXPECT_EQ(t.string("s"), "x");
  EXPECT_EQ(t.integer("i", 0, -10), -3);
  EXPECT_TRUE(t.boolean("b", false));
  EXPECT_EQ(t.milliseconds("ms", std::chrono::milliseconds(1)).count(), 250);
  EXPECT_EQ(t.strings("words"), (Lines{"a", "b"}));
  EXPECT_TRUE(faults_.empty());
}

TEST_F(Reading, GivesTheFallbackOfAnAbsentKey) {
  const Table t = table("");
  EXPECT_FALSE(t.present());
  EXPECT_EQ(t.string("s", "y"), "y");
  EXPECT_EQ(t.integer("i", 7), 7);
  EXPECT_EQ(t.strings("words", {"z"}), (Lines{"z"}));
  EXPECT_FALSE(t.table("inner").present());
  EXPECT_TRUE(t.named().empty());
  EXPECT_TRUE(faults_.empty());
}

// toml++ asserts that a header begins with a key, and reports it only when assertions are off.
TEST_F(Reading, ReportsAHeaderThatBeginsWithNoKey) {
  parse("[ = x]\n");
  ASSERT_EQ(faults_.lines().size(), 1u);
  EXPECT_EQ(faults_.lines().front().rfind("/etc/davit/a.toml:1:", 0), 0u)
      << faults_.lines().front();
}

// toml++ takes each of these for a promise to the optimiser that it cannot be.
TEST_F(Reading, ReportsCharactersThatBelongNowhere) {
  for (const char* stray : {"é", "ѿ", "⻿", "﷿"}) {
    Faults faults;
    Config::parse("[t]\nn = 1 " + std::string(stray) + "\n", "/etc/davit/a.toml", faults);
    ASSERT_EQ(faults.lines().size(), 1u) << stray;
    EXPECT_EQ(faults.lines().front().rfind("/etc/davit/a.toml:2:", 0), 0u);
  }
}

TEST_F(Reading, NotesEveryFaultWithItsPlace) {
  const Table t = table("[t]\ns = 1\ni = \"1\"\nn = 12\nwords = [\"a\", 2]\nw = \"green\"\n");
  EXPECT_EQ(t.string("s", "fallback"), "fallback");
  EXPECT_EQ(t.integer("i", 7), 7);
  EXPECT_EQ(t.integer("n", 5, 1, 10), 5);
  t.strings("words");
  t.word("w", {"red", "blue"}, "red");
  t.string("absent");
  t.reject("s", "is silly");
  t.reject("other", "is not there");
  EXPECT_EQ(faults_.lines(),
            (Lines{"/etc/davit/a.toml:2: t.s: must be a string",
                   "/etc/davit/a.toml:3: t.i: must be an integer",
                   "/etc/davit/a.toml:4: t.n: must be between 1 and 10, not 12",
                   "/etc/davit/a.toml:5: t.words[1]: must be a string",
                   "/etc/davit/a.toml:6: t.w: must be one of \"red\", \"blue\", not \"green\"",
                   "/etc/davit/a.toml:1: t: key \"absent\": is missing (a string)",
                   "/etc/davit/a.toml:2: t.s: is silly",
                   "/etc/davit/a.toml:1: t: key \"other\": is not there"}));
}

TEST_F(Reading, ARequiredKeyOfAnAbsentTableIsNamedWithoutAPlace) {
  parse("").table("rpc", faults_).table("client").string("url");
  EXPECT_EQ(faults_.lines(), (Lines{"rpc.client: key \"url\": is missing (a string)"}));
}

TEST_F(Reading, WalksNamedTablesAndArraysOfTables) {
  const Table t = table(
      "[t.server.zebra]\nlisten = \"1\"\n[t.server.ant]\nlisten = \"2\"\n"
      "[[t.server.ant.token]]\nname = \"x\"\n[[t.server.ant.token]]\nname = \"y\"\n");
  const auto servers = t.table("server").named();
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0].name(), "zebra");  // as written, not by name
  EXPECT_EQ(servers[0].string("listen"), "1");
  EXPECT_EQ(servers[1].key(), "t.server.ant");
  EXPECT_EQ(servers[1].where(), "/etc/davit/a.toml:3");
  EXPECT_EQ(servers[1].string("listen"), "2");
  const auto tokens = servers[1].tables("token");
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].string("name"), "x");
  EXPECT_EQ(tokens[1].key(), "t.server.ant.token[1]");
  EXPECT_EQ(tokens[1].string("name"), "y");
  parse("");  // nothing was left unread
  EXPECT_TRUE(faults_.empty());
}

TEST_F(Reading, UnreadKeysAreFaultsWithTheNearestKnownOne) {
  const Config& config = parse(
      "[t]\nlistn = 1\nlisten = \"x\"\n[t.inner]\nx = 1\n[[t.list]]\nname = \"a\"\nnmae = "
      "2\n[u]\n");
  const Table t = config.table("t", faults_);
  t.string("listen");
  t.integer("limit", 0);
  for (const Table& item : t.tables("list")) item.string("name");
  config.reject_unread(faults_);
  EXPECT_EQ(faults_.lines(),
            (Lines{"/etc/davit/a.toml:2: t.listn: unknown key; did you mean \"listen\"?",
                   "/etc/davit/a.toml:4: t.inner: unknown key",
                   "/etc/davit/a.toml:8: t.list[0].nmae: unknown key; did you mean \"name\"?",
                   "/etc/davit/a.toml:9: u: unknown key; did you mean \"t\"?"}));
}

// A plugin that gave up half-way did not say all its keys: only what looks like one it missed is
// called a fault.
TEST_F(Reading, OfAClosedTableOnlyTypingErrorsOfMissedKeysAreFaults) {
  const Config& config = parse("[t]\nlistn = 1\nport = 2\nprot = 3\nother = 4\n");
  const Table t = config.table("t", faults_);
  t.string("listen", "");
  t.integer("port", 1);
  config.root().find("t")->closed = true;
  config.reject_unread(faults_);
  EXPECT_EQ(faults_.lines(),
            (Lines{"/etc/davit/a.toml:2: t.listn: unknown key; did you mean \"listen\"?"}));
}

TEST_F(Reading, WhatWasRefusedIsNotAlsoUnknown) {
  const Config& config = parse("[t.server]\na = 1\n");
  config.table("t", faults_).string("server", "");
  config.reject_unread(faults_);
  EXPECT_EQ(faults_.lines(), (Lines{"/etc/davit/a.toml:1: t.server: must be a string"}));
}

TEST_F(Reading, PluginsComeInTheOrderOfTheirFirstAppearance) {
  const Config& config =
      parse("[plugin.b]\n[plugin.a.inner]\nx = 1\n[plugin.c]\n[plugin.a]\ny = 2\n");
  std::string names;
  for (const Node* plugin : config.plugins(faults_)) names += plugin->name + " ";
  EXPECT_EQ(names, "b a c ");
}

TEST_F(Reading, PathsAreRelativeToTheFileThatNamesThem) {
  const Table t =
      table("[t]\na = \"tls/key.pem\"\nb = \"/abs/key.pem\"\nc = \"../key.pem\"\nd = \"\"\n");
  EXPECT_EQ(t.path("a", true), "/etc/davit/tls/key.pem");
  EXPECT_EQ(t.path("b", true), "/abs/key.pem");
  EXPECT_EQ(t.path("c", true), "/etc/key.pem");
  EXPECT_EQ(t.path("absent", false), "");
  EXPECT_TRUE(faults_.empty());
  t.path("d", true);
  EXPECT_EQ(faults_.lines(), (Lines{"/etc/davit/a.toml:5: t.d: must not be empty"}));
}

TEST_F(Reading, CredentialsAreLookedForWhereTheServiceManagerPutsThem) {
  const std::filesystem::path given =
      std::filesystem::path(testing::TempDir()) / ("davit-credentials-" + std::to_string(getpid()));
  std::filesystem::create_directories(given);
  for (const char* name : {"token", "davit_db"}) std::ofstream(given / name) << "secret";
  const Table t = table(
      "[t]\na = \"credential:token\"\nb = \"credential:../etc/passwd\"\nc = \"credential:db\"\n"
      "d = \"credential:other\"\n");
  ::unsetenv("CREDENTIALS_DIRECTORY");
  t.path("a", true);
  ::setenv("CREDENTIALS_DIRECTORY", given.c_str(), 1);
  EXPECT_EQ(t.path("a", true), (given / "token").string());
  EXPECT_EQ(t.path("c", true), (given / "davit_db").string());
  t.path("b", true);
  t.path("d", true);
  ::unsetenv("CREDENTIALS_DIRECTORY");
  std::filesystem::remove_all(given);
  EXPECT_EQ(
      faults_.lines(),
      (Lines{"/etc/davit/a.toml:2: t.a: credential \"token\": $CREDENTIALS_DIRECTORY is not "
             "set (the service "
             "manager sets it: LoadCredential=)",
             "/etc/davit/a.toml:3: t.b: credential \"../etc/passwd\" is not a name",
             "/etc/davit/a.toml:5: t.d: there is no credential \"other\": put it into "
             "/etc/davit/credentials/other, or write LoadCredential=other:FILE into the unit, "
             "and restart"}));
}

TEST_F(Reading, AFaultIsOneLineWhateverItQuotes) {
  const Table t = table("[t]\na = \"credential:x\\n/y\"\n");
  t.path("a", true);
  EXPECT_EQ(faults_.lines(),
            (Lines{"/etc/davit/a.toml:2: t.a: credential \"x /y\" is not a name"}));
}

TEST_F(Reading, SurvivesAnyText) {
  // Every prefix of a file with everything in it: a fault or a tree, never a crash.
  const std::string whole =
      "a = 1\n[t]\ns = \"x\\u00e9\"\nr = 1.5e3\nd = 2026-01-01T00:00:00Z\n[[t.l]]\nx = {y = [1, "
      "[2]], z = '''q'''}\n";
  for (size_t n = 0; n <= whole.size(); ++n) {
    Faults faults;
    const Config config = Config::parse(whole.substr(0, n), "p", faults);
    config.reject_unread(faults);
    EXPECT_EQ(faults.empty(), whole.substr(0, n).find_first_not_of('\n') == std::string::npos) << n;
  }
}

}  // namespace
}  // namespace davit::host
