#include "rpc/token_store.hpp"

#include "rig.hpp"

namespace davit::host {
namespace {

struct Store {
  Folder folder;
  std::vector<std::string> warnings;
  TokenStore make(std::vector<std::string> names) {
    std::vector<TokenSettings> settings;
    for (const auto& name : names) settings.push_back({name, folder.path(name), "agent", {"r"}});
    return TokenStore(std::move(settings), "",
                      [this](const std::string& w) { warnings.push_back(w); });
  }
  static std::string ask(TokenStore& store, std::string_view header) {
    const auto r = store.authenticate(&header);
    return r.ok() ? (*r)->name() : r.error().message;
  }
};

TEST(TokenStore, KnowsWhoseATokenIs) {
  Store s;
  s.folder.write("a", "one\n");
  s.folder.write("b", "two");
  auto store = s.make({"a", "b"});
  ASSERT_TRUE(store.load().ok());
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
  EXPECT_EQ(Store::ask(store, "Bearer two"), "b");
}

TEST(TokenStore, SaysWhatIsWrongWithAHeader) {
  Store s;
  s.folder.write("a", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  const auto none = store.authenticate(nullptr);
  EXPECT_EQ(none.error().message, "missing Authorization header");
  EXPECT_EQ(none.error().code, Code::unauthenticated);
  for (const char* bad :
       {"", "one", "bearer one", "Bearer", "Bearer ", "Bearer  one", "Bearer one ", "Basic one"}) {
    EXPECT_EQ(Store::ask(store, bad), "invalid Authorization header") << bad;
  }
  for (const char* wrong : {"Bearer on", "Bearer onee", "Bearer ONE"}) {
    EXPECT_EQ(Store::ask(store, wrong), "invalid bearer token") << wrong;
  }
}

TEST(TokenStore, TakesOtherTokensAndLetsThoseBeThatAreTheSame) {
  Store s;
  for (const char* name : {"a", "b", "c", "d"}) s.folder.write(name, "token-" + std::string(name));
  const auto settings = [&](const std::string& name, const std::string& region) {
    return TokenSettings{name, s.folder.path(name), "agent", {region}};
  };
  TokenStore store({settings("a", "r"), settings("b", "r"), settings("c", "r")}, "",
                   [](const std::string&) {});
  ASSERT_TRUE(store.load().ok());
  const auto who = [&](const std::string& name) {
    const std::string header = "Bearer token-" + name;
    const std::string_view text = header;
    const auto r = store.authenticate(&text);
    return r.ok() ? *r : nullptr;
  };
  const IdentityPtr a = who("a"), b = who("b"), c = who("c");
  // a stays, b is for another region, c is gone, d is new.
  {
    const auto take = store.prepare({settings("d", "r"), settings("a", "r"), settings("b", "q")});
    ASSERT_TRUE(take.ok());
    EXPECT_FALSE(c->is_revoked()) << "nothing changes before it is taken";
    EXPECT_EQ(who("d"), nullptr);
    (*take)();
  }
  EXPECT_EQ(who("a"), a);
  EXPECT_FALSE(a->is_revoked());
  EXPECT_TRUE(b->is_revoked());
  EXPECT_TRUE(c->is_revoked());
  EXPECT_EQ(text(who("b")->abi()->regions[0]), "q");
  EXPECT_EQ(who("c"), nullptr);
  ASSERT_NE(who("d"), nullptr);
  s.folder.write("d", "another");
  store.refresh();
  EXPECT_EQ(who("d"), nullptr) << "its file is looked at like the others'";
}

// A store whose list has the token "a" and whose folder is "agents".
struct WithFolder : Store {
  std::optional<TokenStore> store;
  WithFolder() {
    folder.write("a", "one");
    std::filesystem::create_directory(folder.path("agents"));
    store.emplace(std::vector<TokenSettings>{{"a", folder.path("a"), "agent", {"r"}}},
                  folder.path("agents"), [this](const std::string& w) { warnings.push_back(w); });
  }
  void put(const std::string& name, const std::string& token) {
    std::filesystem::rename(folder.write("agents/.new", token), folder.path("agents/" + name));
    std::filesystem::permissions(folder.path("agents/" + name), std::filesystem::perms(0600));
  }
  std::string regions_of(const std::string& token) {
    const std::string header = "Bearer " + token;
    const std::string_view as_text = header;
    const auto r = store->authenticate(&as_text);
    return r.ok() ? (*r)->name() + " " + text((*r)->abi()->regions[0]) : r.error().message;
  }
};

TEST(TokenStore, AFileInTheFolderIsARegionsToken) {
  WithFolder s;
  s.put("eu-1.token", "of-eu-1-and-long-enough");
  ASSERT_TRUE(s.store->load().ok());
  EXPECT_EQ(s.regions_of("of-eu-1-and-long-enough"), "eu-1.token eu-1");
  EXPECT_TRUE(s.store->knows_region("eu-1"));
  EXPECT_TRUE(s.store->knows_region("r"));
  EXPECT_FALSE(s.store->knows_region("eu-2"));
  // Another comes while the server runs; nobody else notices.
  const std::string_view header = "Bearer of-eu-1-and-long-enough";
  const IdentityPtr before = *s.store->authenticate(&header);
  s.put("eu-2.token", "of-eu-2-and-long-enough");
  s.store->refresh();
  EXPECT_EQ(s.regions_of("of-eu-2-and-long-enough"), "eu-2.token eu-2");
  EXPECT_EQ(*s.store->authenticate(&header), before);
  EXPECT_FALSE(before->is_revoked());
  // One goes, and its calls end.
  std::filesystem::remove(s.folder.path("agents/eu-1.token"));
  s.store->refresh();
  EXPECT_TRUE(before->is_revoked());
  EXPECT_EQ(s.regions_of("of-eu-1-and-long-enough"), "invalid bearer token");
  EXPECT_FALSE(s.store->knows_region("eu-1"));
  EXPECT_EQ(s.warnings, std::vector<std::string>());
}

TEST(TokenStore, AListThatIsReadAnewLeavesTheFolderAlone) {
  WithFolder s;
  s.put("eu-1.token", "of-eu-1-and-long-enough");
  ASSERT_TRUE(s.store->load().ok());
  const std::string_view header = "Bearer of-eu-1-and-long-enough";
  const IdentityPtr before = *s.store->authenticate(&header);
  {
    const auto take = s.store->prepare({});
    ASSERT_TRUE(take.ok());
    (*take)();
  }
  EXPECT_FALSE(s.store->knows_region("r"));
  EXPECT_EQ(*s.store->authenticate(&header), before);
  EXPECT_FALSE(before->is_revoked());
}

TEST(TokenStore, WhatIsWrongInTheFolderIsSaidAndTheOthersCount) {
  WithFolder s;
  s.put("eu-1.token", "of-eu-1-and-long-enough");
  s.put("eu-2.token", "two\nlines");
  s.put("eu-3.token", "one");
  s.put("eu 4.token", "of-eu-4-and-long-enough");
  s.put("notes", "no token");
  s.put(".hidden.token", "of-nobody-and-long-enough");
  ASSERT_TRUE(s.store->load().ok());
  EXPECT_EQ(s.regions_of("of-eu-1-and-long-enough"), "eu-1.token eu-1");
  EXPECT_EQ(s.regions_of("one"), "a r");
  EXPECT_EQ(s.regions_of("of-eu-4-and-long-enough"), "invalid bearer token");
  EXPECT_EQ(s.regions_of("of-nobody-and-long-enough"), "invalid bearer token");
  const std::string agents = s.folder.path("agents/");
  ASSERT_EQ(s.warnings.size(), 3u);
  EXPECT_EQ(s.warnings[0], agents +
                               "eu 4.token: \"eu 4\" is no region: a name has letters, digits, "
                               "\"-\", \"_\" and \".\"");
  EXPECT_EQ(s.warnings[1], "token \"eu-2.token\": " + agents +
                               "eu-2.token: not a token (one line of printable ASCII without "
                               "spaces); it is refused");
  EXPECT_EQ(s.warnings[2],
            "token \"eu-3.token\": " + agents +
                "eu-3.token: another token of this server is the same; it is refused");
  s.warnings.clear();
  s.store->refresh();
  EXPECT_EQ(s.warnings, std::vector<std::string>()) << "each is said once";
  s.put("eu-2.token", "of-eu-1-and-long-enough");
  s.store->refresh();
  ASSERT_EQ(s.warnings.size(), 1u) << "another reason is said, too";
  EXPECT_NE(s.warnings[0].find("another token of this server is the same"), std::string::npos);
  s.warnings.clear();
  s.put("eu-3.token", "of-eu-3-and-long-enough");
  s.store->refresh();
  EXPECT_EQ(s.regions_of("of-eu-3-and-long-enough"), "eu-3.token eu-3");
  EXPECT_EQ(s.warnings, std::vector<std::string>{"token \"eu-3.token\": can be read again"});
}

TEST(TokenStore, AFolderThatIsAwayTakesNoTokenWithIt) {
  WithFolder s;
  s.put("eu-1.token", "of-eu-1-and-long-enough");
  ASSERT_TRUE(s.store->load().ok());
  std::filesystem::rename(s.folder.path("agents"), s.folder.path("away"));
  s.store->refresh();
  s.store->refresh();
  EXPECT_EQ(s.regions_of("of-eu-1-and-long-enough"), "eu-1.token eu-1");
  EXPECT_TRUE(s.store->knows_region("eu-1"));
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_EQ(s.warnings[0], "agent_tokens_dir: " + s.folder.path("agents") +
                               ": No such file or directory; the tokens that it had stay valid");
  std::filesystem::rename(s.folder.path("away"), s.folder.path("agents"));
  s.store->refresh();
  EXPECT_EQ(s.regions_of("of-eu-1-and-long-enough"), "eu-1.token eu-1");
  EXPECT_FALSE(TokenStore({}, s.folder.path("none"), [](const std::string&) {}).load().ok());
}

TEST(TokenStore, ListsThatCannotBeUsedChangeNothing) {
  Store s;
  s.folder.write("a", "one");
  s.folder.write("b", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  const TokenSettings a{"a", s.folder.path("a"), "agent", {"r"}};
  const TokenSettings b{"b", s.folder.path("b"), "agent", {"r"}};
  const TokenSettings none{"none", s.folder.path("none"), "agent", {"r"}};
  EXPECT_EQ(store.prepare({a, b}).error().message, "token \"b\" and token \"a\" are the same");
  EXPECT_EQ(store.prepare({none}).error().message,
            "token \"none\": " + s.folder.path("none") + ": no such file");
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
}

TEST(TokenStore, ATokenMayMoveToAnotherFileWhileItsOldTableStays) {
  for (const bool seen : {true, false}) {
    Store s;
    s.folder.write("a", "one");
    auto store = s.make({"a"});
    ASSERT_TRUE(store.load().ok());
    const TokenSettings a{"a", s.folder.path("a"), "agent", {"r"}};
    const TokenSettings b{"b", s.folder.path("b"), "agent", {"r"}};
    std::filesystem::rename(s.folder.path("a"), s.folder.path("b"));
    if (seen) store.refresh();
    {
      const auto take = store.prepare({a, b});
      ASSERT_TRUE(take.ok()) << take.error().message << ", seen before: " << seen;
      (*take)();
    }
    EXPECT_EQ(Store::ask(store, "Bearer one"), "b");
    store.refresh();
    ASSERT_EQ(s.warnings.size(), 1u) << "the file that is gone is warned of once";
    EXPECT_NE(s.warnings[0].find(s.folder.path("a") + ": no such file"), std::string::npos);
  }
}

TEST(TokenStore, NamesTheFileItCannotUse) {
  Store s;
  auto store = s.make({"a"});
  EXPECT_EQ(store.load().error().message, "token \"a\": " + s.folder.path("a") + ": no such file");
  s.folder.write("a", "");
  EXPECT_EQ(store.load().error().message,
            "token \"a\": " + s.folder.path("a") +
                ": not a token (one line of printable ASCII without spaces)");
  s.folder.write("a", "two\nlines");
  EXPECT_FALSE(store.load().ok());
  s.folder.write("a", "x");
  EXPECT_TRUE(store.load().ok());
}

TEST(TokenStore, RefusesTwoOwnersOfOneToken) {
  Store s;
  s.folder.write("a", "same");
  s.folder.write("b", "same");
  auto store = s.make({"a", "b"});
  EXPECT_EQ(store.load().error().message, "token \"b\" and token \"a\" are the same");
}

TEST(TokenStore, SeesAChangeWhenItLooks) {
  Store s;
  s.folder.write("a", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  s.folder.write("a", "two");
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
  store.refresh();
  EXPECT_EQ(Store::ask(store, "Bearer one"), "invalid bearer token");
  EXPECT_EQ(Store::ask(store, "Bearer two"), "a");
}

TEST(TokenStore, KeepsATokenWhileItsFileIsBeingWritten) {
  Store s;
  s.folder.write("a", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  s.folder.write("a", "");
  for (int i = 0; i < 3; ++i) {
    store.refresh();
    EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
  }
  s.folder.write("a", "two");
  store.refresh();
  EXPECT_EQ(Store::ask(store, "Bearer two"), "a");
  ASSERT_EQ(s.warnings.size(), 2u);  // when it began and when it ended
  EXPECT_NE(s.warnings[0].find("stays valid"), std::string::npos);
  EXPECT_EQ(s.warnings[1], "token \"a\": can be read again");
}

TEST(TokenStore, ATokenWhoseFileIsTakenAwayIsRefused) {
  Store s;
  s.folder.write("a", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  std::filesystem::remove(s.folder.path("a"));
  store.refresh();
  EXPECT_EQ(Store::ask(store, "Bearer one"), "invalid bearer token");
  s.folder.write("a", "one");
  store.refresh();
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
}

IdentityPtr who(TokenStore& store, std::string_view header) {
  auto found = store.authenticate(&header);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : nullptr;
}

TEST(TokenStore, RevokesWhoCameInByAnotherContent) {
  Store s;
  s.folder.write("a", "one");
  s.folder.write("b", "other");
  auto store = s.make({"a", "b"});
  ASSERT_TRUE(store.load().ok());
  const auto first = who(store, "Bearer one"), other = who(store, "Bearer other");
  s.folder.write("a", "one\n");  // the same token
  store.refresh();
  EXPECT_FALSE(first->is_revoked());
  s.folder.write("a", "two");
  store.refresh();
  EXPECT_TRUE(first->is_revoked());
  const auto second = who(store, "Bearer two");
  EXPECT_FALSE(second->is_revoked());
  std::filesystem::remove(s.folder.path("a"));
  store.refresh();
  EXPECT_TRUE(second->is_revoked());
  EXPECT_FALSE(other->is_revoked());
}

TEST(TokenStore, SaysWhatIsDoubtfulAboutAFile) {
  Store s;
  const std::string good(24, 'x');
  s.folder.write("short", "x");
  s.folder.write("open", good + "1");
  s.folder.write("good", good + "2");
  using std::filesystem::perms;
  std::filesystem::permissions(s.folder.path("open"), perms::owner_read | perms::others_read);
  std::filesystem::permissions(s.folder.path("good"), perms::owner_read | perms::group_read);
  auto store = s.make({"short", "open", "good"});
  ASSERT_TRUE(store.load().ok());
  EXPECT_EQ(store.doubts(),
            (std::vector<std::string>{
                "token \"short\": " + s.folder.path("short") +
                    ": a token of 1 characters can be guessed (openssl rand -hex 24 makes a good "
                    "one)",
                "token \"open\": " + s.folder.path("open") +
                    ": every user of this machine may read it (chmod o-r)"}));
}

}  // namespace
}  // namespace davit::host
