// What comes between the look at an object and the apply of it: an apply is of exactly the state
// that was judged.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

bool is_apply(const cluster::Request& q) {
  return q.verb == DAVIT_VERB_APPLY && q.resource.resource == "replicasets";
}

// As another region's agent does it.
const char* const taken_by_another_region =
    R"({"metadata":{"labels":{"davit.dev/region":"us"}},"spec":{"replicas":7}})";

// A record runs; each apply from now on has been judged and waits on its way to the API server.
struct MeanwhileWorld : World {
  explicit MeanwhileWorld(const testing::Config& applier = {}) : World(applier) {
    begin(true, 1, 20);
    apply("web", 20, {2});
    end(1, 20);
    wait();
    hold_applies();
  }
  void hold_applies() { front().hangs = is_apply; }
  void go_on() {
    front().release();
    wait();
  }
  std::string label(const char* key) {
    const json::value rs = replica_set("web");
    const json::value* v = rs.at_pointer("/metadata/labels").as_object().if_contains(key);
    return v == nullptr ? "" : std::string(v->as_string());
  }
};

TEST(Meanwhile, WhatAnotherRegionHasAppliedIsLeftAlone) {
  MeanwhileWorld w;
  w.apply("web", 21, {3});
  w.edit("web", taken_by_another_region);
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.outcome(21), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "region \"us\"")) << w.reasons["web"];
}

TEST(Meanwhile, WhatAnotherRegionHasMadeUnderANameThatWasFreeIsLeftAlone) {
  MeanwhileWorld w;
  w.apply("api", 21);
  w.stranger("api", R"({"davit.dev/region":"us"})");
  w.go_on();
  EXPECT_EQ(w.replicas("api"), 9);
  EXPECT_EQ(w.outcome(21), "parked");
  EXPECT_TRUE(contains(w.reasons["api"], "region \"us\"")) << w.reasons["api"];
}

// Another agent of ours, without a Lease, knows more.
TEST(Meanwhile, ALaterVersionOfOursIsNotTakenBack) {
  MeanwhileWorld w;
  w.apply("web", 21, {3});
  w.edit("web", R"({"metadata":{"annotations":{"davit.dev/version":"30"}},"spec":{"replicas":7}})",
         "krane");
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.outcome(21), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "version 30")) << w.reasons["web"];
  w.apply("web", 31, {4});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 4);
}

TEST(Meanwhile, WhatIsDeletedAndMadeAnewIsAnotherObject) {
  MeanwhileWorld w;
  w.apply("web", 21, {3});
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "web", "{}");
  w.stranger("web", R"({"davit.dev/region":"us"})");
  const std::string uid = w.uid("web");
  w.go_on();
  EXPECT_EQ(w.uid("web"), uid);
  EXPECT_EQ(w.replicas("web"), 9);
  EXPECT_EQ(w.outcome(21), "parked");
}

TEST(Meanwhile, WhatIsDeletedIsMadeAnewAndIsNoDrift) {
  MeanwhileWorld w;
  w.apply("web", 21, {3});
  w.call(DAVIT_VERB_DELETE, "replicasets", "acme", "web", "{}");
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 3);
  EXPECT_EQ(w.outcome(21), "done");
  EXPECT_EQ(w.count("repairs"), 0);
}

TEST(Meanwhile, AnEditOfWhatIsNotOursStaysAndIsNoDrift) {
  for (const bool force : {true, false}) {
    MeanwhileWorld w({{"force", force}});
    w.apply("web", 21, {3});
    w.edit("web", R"({"metadata":{"labels":{"theirs":"stays"}}})");
    w.go_on();
    EXPECT_EQ(w.replicas("web"), 3) << force;
    EXPECT_EQ(w.outcome(21), "done") << force;
    EXPECT_EQ(w.label("theirs"), "stays");
    EXPECT_EQ(w.count("repairs"), 0);
    EXPECT_FALSE(w.issues.contains("web"));
    const double applies = w.count("applies");
    w.wait(10min);
    EXPECT_EQ(w.count("applies"), applies) << "nothing differs any more";
  }
}

TEST(Meanwhile, ARepairThatBeginsAgainCountsOnce) {
  MeanwhileWorld w;
  w.edit("web", R"({"spec":{"replicas":5}})");
  w.wait();
  w.edit("web", R"({"metadata":{"labels":{"theirs":"stays"}}})");
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 2);
  EXPECT_EQ(w.count("repairs"), 1);
}

TEST(Meanwhile, ARepairThatNobodyNeedsAnyMoreDoesNotCount) {
  MeanwhileWorld w;
  w.edit("web", R"({"spec":{"replicas":5}})");
  w.wait();
  w.edit("web", R"({"spec":{"replicas":2}})");
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 2);
  EXPECT_EQ(w.count("repairs"), 0);
}

// What was judged is old for as long as its watch is cut.
TEST(Meanwhile, IsAsLongAsAWatchIsCut) {
  MeanwhileWorld w;
  w.front().stop_showing("replicasets", DAVIT_WATCH_TROUBLE, "connection refused");
  w.edit("web", taken_by_another_region);
  w.wait(1min);
  w.apply("web", 21, {3});
  w.go_on();
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.outcome(21), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "region \"us\"")) << w.reasons["web"];
}

// What cannot be changed was deleted; somebody is quick to take the name.
TEST(Meanwhile, WhatComesInThePlaceOfWhatIsMadeAnewIsLeftAlone) {
  MeanwhileWorld w;
  const std::string before = w.uid("web");
  w.front().hangs = [&w, before](const cluster::Request& q) {
    return is_apply(q) && w.front().sent["delete replicasets"] > 0;
  };
  w.apply("web", 21, {.replicas = 3, .id = "d_other"});
  w.wait(100ms);
  ASSERT_EQ(w.uid("web"), "") << "deleted, and not made anew yet";
  w.stranger("web", R"({"davit.dev/region":"us"})");
  const std::string theirs = w.uid("web");
  w.go_on();
  EXPECT_EQ(w.uid("web"), theirs);
  EXPECT_EQ(w.replicas("web"), 9);
  EXPECT_EQ(w.outcome(21), "parked");
}

TEST(Meanwhile, WhoeverIsAlwaysSlowerTriesAgainLaterAndSaysWhy) {
  MeanwhileWorld w;
  w.front().release();
  const size_t before = w.front().sent["apply replicasets"];
  w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (!is_apply(q)) return std::nullopt;
    return refusal(409, "Conflict",
                   "Operation cannot be fulfilled on replicasets.apps \"web\": the object has been "
                   "modified; please apply your changes to the latest version and try again");
  };
  w.apply("web", 21, {3});
  EXPECT_LE(w.front().sent["apply replicasets"] - before, 4) << "in one go";
  w.wait(10min);
  EXPECT_LE(w.front().sent["apply replicasets"] - before, 200) << "it waits longer each time";
  EXPECT_EQ(w.outcome(21), "") << "it holds the cursor";
  EXPECT_TRUE(contains(w.statuses["d_web"].message, "retrying: ")) << w.statuses["d_web"].message;
  EXPECT_TRUE(contains(w.statuses["d_web"].message, "has been modified"));
  w.front().policy = nullptr;
  w.wait(1min);
  EXPECT_EQ(w.outcome(21), "done");
  EXPECT_EQ(w.replicas("web"), 3);
}

}  // namespace
}  // namespace davit::applier::test
