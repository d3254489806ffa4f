#include "controller/object_cache.hpp"

#include <davit/abi/cluster.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::controller {
namespace {

using State = ObjectCache::State;
using Keys = std::vector<std::string>;

std::string object(const std::string& name, int version, const std::string& more = "",
                   const std::string& uid = "") {
  return R"({"metadata":{"namespace":"n","name":")" + name + R"(","uid":")" +
         (uid.empty() ? name : uid) + R"(","resourceVersion":")" + std::to_string(version) +
         R"("})" + (more.empty() ? "" : "," + more) + "}";
}
const std::string synced = R"({"metadata":{"resourceVersion":"9"}})";

// A cache that has listed these objects.
ObjectCache listed(const std::vector<std::string>& objects) {
  ObjectCache c;
  c.event(DAVIT_WATCH_RESTART, synced);
  for (const auto& o : objects) c.event(DAVIT_WATCH_ADDED, o);
  c.event(DAVIT_WATCH_SYNCED, synced);
  return c;
}

TEST(ObjectCache, IsCompleteOnceItsListIs) {
  ObjectCache c;
  EXPECT_FALSE(c.complete());
  c.event(DAVIT_WATCH_RESTART, "{}");
  EXPECT_EQ(c.event(DAVIT_WATCH_ADDED, object("a", 1)), Keys{"n/a"});
  EXPECT_FALSE(c.complete()) << "more may come";
  EXPECT_NE(c.find("n/a"), nullptr) << "what it has shown is there";
  c.event(DAVIT_WATCH_SYNCED, synced);
  EXPECT_TRUE(c.complete());
  EXPECT_EQ(c.reason(), "");
}

TEST(ObjectCache, AnEmptyListIsComplete) {
  EXPECT_TRUE(listed({}).complete());
}

TEST(ObjectCache, AResourceThatIsNotInstalledIsNoEmptyList) {
  ObjectCache c = listed({object("a", 1)});
  c.event(DAVIT_WATCH_RESTART, "{}");
  EXPECT_EQ(c.event(DAVIT_WATCH_SYNCED, R"({"metadata":{}})"), Keys{});
  EXPECT_EQ(c.state(), State::absent);
  EXPECT_FALSE(c.complete());
  EXPECT_NE(c.find("n/a"), nullptr);
  EXPECT_EQ(c.reason(), "the resource is not installed");
}

TEST(ObjectCache, KeepsWhatItHadUntilTheNewListIsComplete) {
  ObjectCache c = listed({object("a", 1), object("b", 2)});
  c.event(DAVIT_WATCH_RESTART, "{}");
  EXPECT_FALSE(c.complete());
  EXPECT_NE(c.find("n/a"), nullptr);
  EXPECT_EQ(c.event(DAVIT_WATCH_ADDED, object("b", 2)), Keys{}) << "it is what it was";
  EXPECT_EQ(c.event(DAVIT_WATCH_SYNCED, synced), Keys{"n/a"}) << "it went while nobody watched";
  EXPECT_EQ(c.find("n/a"), nullptr);
  EXPECT_TRUE(c.complete());
}

TEST(ObjectCache, IsNotCompleteWhileItsWatchIsCut) {
  ObjectCache c = listed({object("a", 1)});
  c.event(DAVIT_WATCH_TROUBLE, "connection refused");
  EXPECT_FALSE(c.complete());
  EXPECT_EQ(c.reason(), "its watch is interrupted: connection refused");
  c.event(DAVIT_WATCH_SYNCED, synced);
  EXPECT_TRUE(c.complete()) << "it goes on where it was";
  EXPECT_NE(c.find("n/a"), nullptr);
  c.event(DAVIT_WATCH_REFUSED, "forbidden");
  c.event(DAVIT_WATCH_MODIFIED, object("a", 12));
  EXPECT_EQ(c.reason(), "its watch is refused: forbidden") << "it may be of another namespace";
  c.event(DAVIT_WATCH_SYNCED, synced);
  EXPECT_TRUE(c.complete());
}

TEST(ObjectCache, AnEventShowsThatACutWatchGoesOn) {
  ObjectCache c = listed({object("a", 1)});
  c.event(DAVIT_WATCH_TROUBLE, "cut");
  c.event(DAVIT_WATCH_MODIFIED, object("a", 12));
  EXPECT_TRUE(c.complete());
  c.event(DAVIT_WATCH_TROUBLE, "cut");
  c.event(DAVIT_WATCH_RESTART, "{}");
  c.event(DAVIT_WATCH_ADDED, object("a", 12));
  EXPECT_FALSE(c.complete()) << "of a new list more may come";
}

TEST(ObjectCache, ADeleteOfWhatItNeverHadIsNothing) {
  ObjectCache c = listed({object("a", 1)});
  EXPECT_EQ(c.event(DAVIT_WATCH_DELETED, object("x", 5)), Keys{});
  EXPECT_EQ(c.event(DAVIT_WATCH_DELETED, object("a", 5)), Keys{"n/a"});
  EXPECT_EQ(c.size(), 0u);
}

TEST(ObjectCache, WhatCannotBeReadMakesItIncomplete) {
  ObjectCache c = listed({object("a", 1)});
  c.event(DAVIT_WATCH_ADDED, "{broken");
  EXPECT_FALSE(c.complete());
  EXPECT_EQ(c.reason(), "1 objects cannot be read");
  c.event(DAVIT_WATCH_RESTART, "{}");
  c.event(DAVIT_WATCH_SYNCED, synced);
  EXPECT_TRUE(c.complete());
}

TEST(ObjectCache, EventsOfBeforeDoNotUndoAnOwnWrite) {
  ObjectCache c = listed({object("a", 1)});
  c.put(object("a", 7, R"("spec":"ours")"));
  EXPECT_EQ(c.event(DAVIT_WATCH_MODIFIED, object("a", 5, R"("spec":"before")")), Keys{});
  EXPECT_NE(c.find("n/a")->find("ours"), std::string::npos);
  EXPECT_EQ(c.event(DAVIT_WATCH_MODIFIED, object("a", 8, R"("spec":"after")")), Keys{"n/a"});
  EXPECT_NE(c.find("n/a")->find("after"), std::string::npos);
}

TEST(ObjectCache, AnOwnWriteOfWhatHasGoneBringsNothingBack) {
  ObjectCache c = listed({object("a", 1), object("b", 1, "", "first")});
  c.event(DAVIT_WATCH_DELETED, object("a", 6));
  c.put(object("a", 5));
  EXPECT_EQ(c.find("n/a"), nullptr);
  c.event(DAVIT_WATCH_DELETED, object("b", 6, "", "first"));
  c.event(DAVIT_WATCH_ADDED, object("b", 7, R"("spec":"new")", "second"));
  c.put(object("b", 5, R"("spec":"old")", "first"));
  EXPECT_NE(c.find("n/b")->find("new"), std::string::npos);
}

TEST(ObjectCache, AnOlderStoreIsBelievedAfterARestart) {
  ObjectCache c = listed({object("a", 100)});
  c.put(object("a", 120, R"("spec":"ours")"));
  c.event(DAVIT_WATCH_RESTART, "{}");
  EXPECT_EQ(c.event(DAVIT_WATCH_ADDED, object("a", 50, R"("spec":"restored")")), Keys{"n/a"});
  c.event(DAVIT_WATCH_SYNCED, synced);
  EXPECT_NE(c.find("n/a")->find("restored"), std::string::npos);
}

TEST(ObjectCache, KeepsWhatItsReducerLeaves) {
  ObjectCache c([](boost::json::object& o) { o.erase("status"); });
  c.event(DAVIT_WATCH_ADDED, object("a", 1, R"("status":1,"spec":2)"));
  EXPECT_EQ(c.find("n/a")->find("status"), std::string::npos);
  EXPECT_NE(c.find("n/a")->find("spec"), std::string::npos);
}

TEST(ObjectCache, KeysNameTheNamespaceIfThereIsOne) {
  EXPECT_EQ(split_key(key_of("ns", "a")), (std::pair<std::string, std::string>("ns", "a")));
  EXPECT_EQ(split_key(key_of("", "a")), (std::pair<std::string, std::string>("", "a")));
}

}  // namespace
}  // namespace davit::controller
