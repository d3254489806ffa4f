// What the applier never deletes, overwrites or takes from others.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

// As a ValidatingAdmissionPolicy of this name denies.
cluster::Response denied() {
  const std::string why =
      "ValidatingAdmissionPolicy 'require-immutable-tags' with binding 'b' "
      "denied request: the field is immutable";
  return refusal(422, "Invalid", "replicasets.apps \"web\" is forbidden: " + why,
                 R"([{"message":")" + why + R"("}])");
}

// Denies new ReplicaSets, changed ones, or both.
Front::Policy denies(bool created, bool changed) {
  return [=](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource != "replicasets") return std::nullopt;
    if (created && q.verb == DAVIT_VERB_CREATE) return denied();
    if (changed && q.verb == DAVIT_VERB_APPLY) return denied();
    return std::nullopt;
  };
}

// --- making anew

TEST(Replace, AWordInARefusalDeletesNothing) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const std::string uid = w.uid("web");
  w.front().policy = denies(true, true);
  w.apply("web", 11, {.image = "nginx:2"});
  w.wait();
  EXPECT_EQ(w.uid("web"), uid);
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "require-immutable-tags")) << w.reasons["web"];
  EXPECT_EQ(w.statuses["d_web"].ready, 1) << "what runs is still told";
}

// Its selector is another one, which cannot be changed, and a new one would be denied.
TEST(Replace, WhatRunsStaysWhenTheNewOneWouldBeRefused) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const std::string uid = w.uid("web");
  w.front().policy = denies(true, false);
  w.apply("web", 11, {.id = "d_other"});
  w.wait();
  EXPECT_EQ(w.uid("web"), uid);
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "require-immutable-tags")) << w.reasons["web"];
  EXPECT_TRUE(contains(w.reasons["web"], "spec.selector")) << w.reasons["web"];
  w.front().policy = nullptr;
  w.wait(6min);
  EXPECT_NE(w.uid("web"), uid);
  EXPECT_FALSE(w.issues.contains("web"));
}

TEST(Replace, WhatIsInvalidInItselfDeletesNothing) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const std::string uid = w.uid("web");
  w.apply("web", 11, {.replicas = -1, .id = "d_other"});
  w.wait();
  EXPECT_EQ(w.uid("web"), uid);
  EXPECT_EQ(w.outcome(11), "parked");
}

// --- fields of others

TEST(TakeOver, TakesNothingFromAnybodyInVain) {
  for (const bool policy : {true, false}) {
    World w;
    w.begin(true);
    w.apply("web", 10);
    w.wait();
    w.edit("web", R"({"spec":{"theirs":5}})", "somebody");
    w.wait();
    // A policy says no, or the object is wrong in itself: neither is for what others have set.
    if (policy) w.front().policy = denies(false, true);
    w.apply("web", 11, policy ? ApplyOptions{.image = "nginx:2"} : ApplyOptions{.replicas = -1});
    w.wait();
    EXPECT_EQ(w.outcome(11), "parked");
    bool theirs = false;
    const json::value live = w.replica_set("web");
    for (const auto& entry : live.at_pointer("/metadata/managedFields").as_array()) {
      theirs = theirs || (entry.at("manager") == "somebody" &&
                          entry.at("fieldsV1").as_object().contains("f:spec"));
    }
    EXPECT_TRUE(theirs) << policy;
  }
}

// --- whose it is

struct Owner {
  const char* name;
  const char* labels;
  const char* annotations;
  const char* said;
};

// No selector of ours finds them.
const Owner owners[] = {
    {"region", R"({"app.kubernetes.io/managed-by":"other","davit.dev/region":"us"})", "{}",
     "region \"us\""},
    {"kind", R"({"davit.dev/region":"eu","davit.dev/kind":"sentinel"})",
     R"({"davit.dev/record":"acme/edge"})", "kind \"sentinel\" (record \"acme/edge\")"},
    {"record", R"({"davit.dev/region":"eu","davit.dev/kind":"deployment"})",
     R"({"davit.dev/record":"acme/api"})", "record \"acme/api\""},
};

TEST(Ownership, IsAskedOfTheObjectWhateverTheSelectorShows) {
  for (const Owner& owner : owners) {
    World w;
    w.stranger("web", owner.labels, owner.annotations);
    w.begin(true);
    w.apply("web", 10);
    w.apply("good", 11);
    w.end(2, 11);
    w.wait(10min);
    EXPECT_EQ(w.replicas("web"), 9) << owner.name;
    EXPECT_EQ(w.outcome(10), "parked") << owner.name;
    EXPECT_EQ(w.outcome(11), "done");
    EXPECT_TRUE(contains(w.reasons["web"], owner.said)) << w.reasons["web"];
    EXPECT_LE(w.count("applies"), 1) << "nobody fights";
  }
}

// Two regions' agents, one selector each, one name: whoever comes second stands back.
TEST(Ownership, WhatIsTakenOverWhileNobodyLooksIsNotTakenBack) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.edit("web", R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"other",
                    "davit.dev/region":"us"}},"spec":{"replicas":7}})");
  w.wait(10min);
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.issues["web"], "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "region \"us\"")) << w.reasons["web"];
}

TEST(Ownership, AParkedRecordDoesNotShowTheOthersPods) {
  World w;
  w.stranger("web", R"({"app.kubernetes.io/managed-by":"krane",
      "app.kubernetes.io/component":"deployment","davit.dev/region":"us"})");
  w.wait();
  w.begin(true);
  w.apply("web", 10, {2});
  w.end(1, 10);
  w.wait();
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_EQ(w.statuses["d_web"].desired, 2);
  EXPECT_EQ(w.statuses["d_web"].ready, 0);
  EXPECT_TRUE(w.statuses["d_web"].children.empty());
}

TEST(Ownership, AParkEndsWhenTheWatchShowsThatTheObjectIsOurs) {
  World w;
  w.stranger("web", R"({"app.kubernetes.io/managed-by":"krane",
      "app.kubernetes.io/component":"deployment","davit.dev/region":"us"})");
  w.begin(true);
  w.apply("web", 10, {2});
  w.end(1, 10);
  w.wait();
  ASSERT_EQ(w.outcome(10), "parked");
  w.edit("web", R"({"metadata":{"labels":{"davit.dev/region":"eu"}}})");
  w.wait();
  EXPECT_EQ(w.replicas("web"), 2);
  EXPECT_FALSE(w.issues.contains("web"));
}

// --- annotations are not names

TEST(Ownership, AnEditedAnnotationDeletesNothingAndIsPutRight) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.end(1, 10);
  w.wait();
  const std::string uid = w.uid("web");
  const char* edit = R"({"metadata":{"annotations":{"davit.dev/record":"acme/ghost"}}})";
  w.edit("web", edit);
  w.wait(10min);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/annotations/davit.dev~1record"), "acme/web");
  // While no agent looks; no record "ghost" is named.
  w.edit("web", edit);
  w.restart();
  w.begin(true);
  w.apply("web", 10);
  w.end(1, 12);
  w.wait(10min);
  EXPECT_EQ(w.uid("web"), uid);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/annotations/davit.dev~1record"), "acme/web");
}

TEST(Ownership, ARenamedCopyIsNobodysToDelete) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.end(1, 10);
  w.wait();
  json::value copy = w.replica_set("web");
  for (const char* member : {"uid", "resourceVersion", "managedFields"})
    copy.at("metadata").as_object().erase(member);
  copy.at("metadata").as_object()["name"] = "copy";
  w.call(DAVIT_VERB_CREATE, "replicasets", "acme", "", json::serialize(copy));
  w.wait(10min);
  EXPECT_EQ(w.replica_sets(), "copy web");
  EXPECT_EQ(w.statuses["d_web"].ready, 1);
  w.restart();
  w.begin(true);
  w.end(0, 12);
  w.wait(10min);
  EXPECT_EQ(w.replica_sets(), "copy") << "the record goes, and what is called like it";
  EXPECT_EQ(w.issues["copy"], "orphaned");
}

// --- versions

// Another agent, which knows of a later version, has been there. `more`: of its stamps.
struct FencedWorld : World {
  explicit FencedWorld(const std::string& more = {}) {
    begin(true, 1, 20);
    apply("web", 20, {2});
    end(1, 20);
    wait();
    edit("web",
         R"({"metadata":{"annotations":{"davit.dev/version":"30")" + more +
             R"(}},"spec":{"replicas":7}})",
         "krane");
  }
};

TEST(Fence, AnOlderAgentTakesNothingBack) {
  FencedWorld w;
  const double before = w.count("applies");
  w.wait(10min);
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.count("applies"), before);
  EXPECT_EQ(w.issues["web"], "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "version 30")) << w.reasons["web"];
  w.apply("web", 25, {3});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.outcome(25), "parked");
  w.apply("web", 31, {3});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 3);
  EXPECT_EQ(w.outcome(31), "done");
  EXPECT_FALSE(w.issues.contains("web"));
}

TEST(Fence, AnOlderDeleteDeletesNothing) {
  FencedWorld w;
  w.remove("web", 25);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "web");
  EXPECT_EQ(w.issues["web"], "parked");
  w.remove("web", 32);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
}

// A restored store has lost version 30, and gives its versions again.
TEST(Fence, AnotherHistoryIsNotOlder) {
  FencedWorld w;
  w.begin(true, 2, 20, {{1, 20}});
  w.apply("web", 20, {3});
  w.end(1, 20);
  w.wait();
  EXPECT_EQ(w.replicas("web"), 3);
  EXPECT_FALSE(w.issues.contains("web"));
}

// The store has begun anew, and another agent has heard of it first.
struct OvertakenWorld : FencedWorld {
  OvertakenWorld() : FencedWorld(R"(,"davit.dev/incarnation":"2")") {}
};

TEST(Fence, WhatIsMadeOfAnUnknownIncarnationIsNotTakenBack) {
  OvertakenWorld w;
  w.wait(10min);
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_TRUE(contains(w.statuses["d_web"].message, "has not heard of"))
      << w.statuses["d_web"].message;
  w.remove("web", 25);
  w.wait(10min);
  EXPECT_EQ(w.replica_sets(), "web") << "nor deleted";
}

TEST(Fence, AStreamThatGoesOnSaysWhatHasComeBetween) {
  OvertakenWorld w;
  w.begin(false, 3, 20, {{1, 20}, {2, 35}});
  w.wait(10min);
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_EQ(w.issues["web"], "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "version 30")) << w.reasons["web"];
  w.apply("web", 36, {3});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 3);
}

// Made by another store, or by one that was lost: nobody will ever hear of it.
TEST(Fence, WhatTheStoreDoesNotKnowThoughItHasSpokenSinceIsTakenOver) {
  OvertakenWorld w;
  w.wait(10s);
  w.word(1, 20);
  w.wait(1min);
  EXPECT_EQ(w.replicas("web"), 7) << "it may have been on its way when the object was seen";
  w.word(1, 20);
  w.wait();
  EXPECT_EQ(w.replicas("web"), 2) << "at once";
}

// The server is asked in good time: not when the record may be touched again.
TEST(Fence, WhatIsHeldOrParkedIsExplainedMeanwhile) {
  for (const bool held : {true, false}) {
    World w;
    w.begin(true, 1, 20);
    w.apply("web", 20, {2});
    w.end(1, 20);
    w.wait();
    held ? w.hold("web", 25) : w.garbage("web", 25);
    w.wait();
    ASSERT_EQ(w.outcome(25), held ? "held" : "parked");
    w.edit("web",
           R"({"metadata":{"annotations":{"davit.dev/version":"30","davit.dev/incarnation":"2"}},
               "spec":{"replicas":7}})",
           "krane");
    w.wait(1min);
    w.word(1, 26);
    w.wait();
    EXPECT_EQ(w.replicas("web"), 7);
    w.apply("web", 31, {3});
    w.wait();
    EXPECT_EQ(w.replicas("web"), 3) << held;
    EXPECT_EQ(w.outcome(31), "done") << held;
  }
}

// It was seen before the stream went on in another incarnation of the store.
TEST(Fence, WhatIsHeldIsExplainedInEachIncarnation) {
  World w;
  w.begin(true, 1, 20);
  w.apply("web", 20, {2});
  w.end(1, 20);
  w.wait();
  w.hold("web", 25);
  w.edit("web",
         R"({"metadata":{"annotations":{"davit.dev/version":"30","davit.dev/incarnation":"2"}},
             "spec":{"replicas":7}})",
         "krane");
  w.wait();
  w.begin(false, 3, 25, {{1, 25}});
  w.wait(2min);
  w.word(3, 26);
  w.apply("web", 31, {3});
  w.wait();
  EXPECT_EQ(w.replicas("web"), 3);
  EXPECT_EQ(w.outcome(31), "done");
}

}  // namespace
}  // namespace davit::applier::test
