// The progress of agents.
#include "storage.hpp"

#include <set>

namespace davit::conformance {
namespace {

TEST(StorageAgents, ProgressReplacesWhatTheSameAgentSaidBefore) {
  Store store;
  Progress p{"r1",
             "one",
             "davit 0.1.0",
             3,
             {{"widget", {11, 12}}, {"gadget", {11, 9}}},
             {{"widget", "a", "default", "name-a", 4, DAVIT_ISSUE_PARKED, "invalid \"x\"", 11},
              {"widget", "", "default", "stray", 0, DAVIT_ISSUE_ORPHANED, ""}},
             1'700'000'000'123};
  Progress second = p, elsewhere = p;
  second.agent = "two";
  elsewhere.region = "r2";
  for (const auto& x : {p, second, elsewhere}) ASSERT_TRUE(store->progress(x).ok());
  p.epoch = 4;
  p.kinds = {{"widget", {11, 20}}};
  p.issues.pop_back();
  ASSERT_TRUE(store->progress(p).ok());
  std::vector<Progress> all;
  ASSERT_TRUE(
      store->agents({}, [&](const davit_progress& x) { return all.push_back(from_abi(x)), true; })
          .ok());
  ASSERT_EQ(all.size(), 3u);
  for (const auto& x : all) {
    const bool replaced = x.region == "r1" && x.agent == "one";
    EXPECT_EQ(x.epoch, Epoch(replaced ? 4u : 3u));
    EXPECT_EQ(x.software, "davit 0.1.0");
    EXPECT_EQ(x.seen_at_unix_ms, 1'700'000'000'123);
    ASSERT_EQ(x.kinds.size(), replaced ? 1u : 2u);
    ASSERT_EQ(x.issues.size(), replaced ? 1u : 2u);
    for (const auto& k : x.kinds) {
      const Version version(k.kind == "gadget" ? 9u : replaced ? 20u : 12u);
      EXPECT_EQ(k.applied, (Cursor{11, version})) << k.kind;
    }
    EXPECT_EQ(x.issues[0].reason, "invalid \"x\"");
    EXPECT_EQ(x.issues[0].id, "a");
    EXPECT_EQ(x.issues[0].version, Version(4));
    EXPECT_EQ(x.issues[0].incarnation, Incarnation(11));
    EXPECT_EQ(x.issues[0].condition, DAVIT_ISSUE_PARKED);
  }
}

TEST(StorageAgents, OneIsForgottenUnlessItWasHeardOfSince) {
  Store store;
  const auto heard = [&](const std::string& region, const std::string& agent, int64_t at) {
    const Progress p{region, agent, "davit 0.1.0", 1, {{"widget", {11, 12}}}, {}, at};
    ASSERT_TRUE(store->progress(p).ok());
  };
  const auto known = [&] {
    std::set<std::string> out;
    auto all = store->agents({}, [&](const davit_progress& p) {
      return out.insert(text(p.region) + "/" + text(p.agent) + " " + std::to_string(p.kinds_count)),
             true;
    });
    EXPECT_TRUE(all.ok());
    return out;
  };
  heard("r1", "one", 1000);
  heard("r1", "two", 1000);
  heard("r2", "one", 1000);
  using Names = std::set<std::string>;
  ASSERT_TRUE(store->maintain({.forget = {"r1", "one", 999}}).ok());
  EXPECT_EQ(known(), (Names{"r1/one 1", "r1/two 1", "r2/one 1"}));
  ASSERT_TRUE(store->maintain({.forget = {"r1", "one", 1000}}).ok());
  EXPECT_EQ(known(), (Names{"r1/two 1", "r2/one 1"}));
  ASSERT_TRUE(store->maintain({.forget = {"r1", "nobody", 1000}}).ok());
  heard("r1", "one", 2000);  // it may come back
  EXPECT_EQ(known(), (Names{"r1/one 1", "r1/two 1", "r2/one 1"}));
}

std::vector<std::string> names(Store& store, AgentRead q) {
  std::vector<std::string> out;
  for (bool more = true; more;) {
    uint32_t count = 0;
    const auto page = store->agent_page(q, [&](const davit_progress& p) {
      out.push_back(text(p.region) + "/" + text(p.agent));
      std::tie(q.after_region, q.after_agent) = std::pair(text(p.region), text(p.agent));
      return ++count <= q.limit;
    });
    if (!page.ok() || count > q.limit || (*page && count == 0)) {
      ADD_FAILURE() << "a page of " << count << " agents: " << why(page);
      return out;
    }
    more = *page;
  }
  return out;
}

TEST(StorageAgents, AreReadInPagesInTheOrderOfRegionAndName) {
  Store store;
  std::vector<std::string> all;
  for (const char* region : {"r1", "r2"}) {
    for (const char* agent : {"B", "a", "b", "\xc3\xa9"})
      all.push_back(region + ("/" + std::string(agent)));
  }
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    ASSERT_TRUE(store->progress({at->substr(0, 2), at->substr(3), "davit", 1, {}, {}, 1}).ok());
  for (uint32_t limit : {1u, 3u, 8u, 100u}) EXPECT_EQ(names(store, {{}, {}, {}, limit}), all);
  const std::vector<std::string> second(all.begin() + 4, all.end());
  for (uint32_t limit : {1u, 3u, 4u}) EXPECT_EQ(names(store, {"r2", {}, {}, limit}), second);
  EXPECT_EQ(names(store, {"r2", "r2", "b", 10}), std::vector<std::string>{all.back()});
  EXPECT_TRUE(names(store, {"r3", {}, {}, 10}).empty());
}

TEST(StorageAgents, AVisitorThatStopsIsToldThatThereIsMore) {
  Store store;
  for (const char* agent : {"a", "b"})
    ASSERT_TRUE(store->progress({"r1", agent, "davit", 1, {}, {}, 1}).ok());
  auto more = store->agent_page({}, [](const davit_progress&) { return false; });
  ASSERT_TRUE(more.ok()) << why(more);
  EXPECT_TRUE(*more);
  more = store->agent_page({}, [](const davit_progress&) { return true; });
  ASSERT_TRUE(more.ok()) << why(more);
  EXPECT_FALSE(*more);
}

}  // namespace
}  // namespace davit::conformance
