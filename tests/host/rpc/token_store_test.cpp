#include "rpc/token_store.hpp"

#include "rig.hpp"

namespace davit::host {
namespace {

using Time = std::chrono::steady_clock::time_point;

struct Store {
  Folder folder;
  Time now{std::chrono::hours(1)};
  std::vector<std::string> warnings;
  TokenStore make(std::vector<std::string> names) {
    std::vector<TokenSettings> settings;
    for (const auto& name : names) settings.push_back({name, folder.path(name), "agent", {"r"}});
    return TokenStore(
        std::move(settings), [this](const std::string& w) { warnings.push_back(w); },
        [this] { return now; });
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

TEST(TokenStore, SeesAChangeWithinASecond) {
  Store s;
  s.folder.write("a", "one");
  auto store = s.make({"a"});
  ASSERT_TRUE(store.load().ok());
  s.folder.write("a", "two");
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
  s.now += std::chrono::seconds(1);
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
    s.now += std::chrono::seconds(1);
    EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
  }
  s.folder.write("a", "two");
  s.now += std::chrono::seconds(1);
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
  s.now += std::chrono::seconds(1);
  EXPECT_EQ(Store::ask(store, "Bearer one"), "invalid bearer token");
  s.folder.write("a", "one");
  s.now += std::chrono::seconds(1);
  EXPECT_EQ(Store::ask(store, "Bearer one"), "a");
}

}  // namespace
}  // namespace davit::host
