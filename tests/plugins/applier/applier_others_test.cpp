// The applier and objects that others have made, or have set something in.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

TEST(Applier, LeavesForeignObjectsAlone) {
  World w;
  w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
  const std::string theirs =
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"NAME","namespace":"acme",
    "labels":{"app.kubernetes.io/managed-by":"krane","app.kubernetes.io/component":"deployment"LABEL}},
    "spec":{"replicas":9,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  auto make = [&](const std::string& name, const std::string& label) {
    std::string body = theirs;
    body.replace(body.find("NAME"), 4, name);
    body.replace(body.find("LABEL"), 5, label);
    const auto made = w.call(DAVIT_VERB_CREATE, "replicasets", "acme", "", body);
    ASSERT_EQ(made.code, Code::ok) << made.message;
  };
  make("unstamped", "");
  make("other-region", R"(,"davit.dev/region":"us")");
  w.begin(true);
  w.apply("mine", 10);
  w.apply("other-region", 11);
  w.end(2, 11);
  w.wait(5min);
  EXPECT_EQ(w.replica_sets(), "mine other-region unstamped");
  EXPECT_EQ(w.replicas("unstamped"), 9);
  EXPECT_EQ(w.replicas("other-region"), 9);
  EXPECT_EQ(w.outcome(11), "parked");
  w.remove("other-region", 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "mine other-region unstamped") << "not ours to delete either";
  EXPECT_EQ(w.outcome(12), "done") << "nothing of ours is left";
}

TEST(Applier, LeavesForeignObjectsAloneWhileItsWatchesShowNothing) {
  World w;
  w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
  w.call(
      DAVIT_VERB_CREATE, "replicasets", "acme", "",
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"theirs","namespace":"acme",
          "labels":{"davit.dev/region":"us"}},
          "spec":{"replicas":9,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  w.blind();
  w.restart();
  w.begin(true);
  w.apply("theirs", 10);
  w.apply("mine", 11);
  w.wait(10s);  // it does not wait for its watches for ever
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.replicas("theirs"), 9);
  EXPECT_EQ(w.replicas("mine"), 1);
}

TEST(Applier, TakesOverAnUnstampedObjectOnlyWhenItMay) {
  for (const bool adopt : {true, false}) {
    World w({{"adopt", adopt}});
    w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
           R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
    w.call(
        DAVIT_VERB_CREATE, "replicasets", "acme", "",
        R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"acme"},"spec":{"replicas":9,
            "selector":{"matchLabels":{"unkey.com/deployment.id":"d_web"}},"template":{"metadata":{"labels":{"unkey.com/deployment.id":"d_web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait();
    EXPECT_EQ(w.outcome(10), adopt ? "done" : "parked");
    EXPECT_EQ(w.replicas("web"), adopt ? 2 : 9);
  }
}

TEST(Applier, ReplacesWhatCannotBeChanged) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const auto uid = w.replica_set("web").at_pointer("/metadata/uid");
  w.apply("web", 11, {.replicas = 1, .image = "nginx:2"});
  w.wait();
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/uid"), uid)
      << "an image can be changed in place";
  // Another record takes over the name: its selector is another one, and that field is immutable.
  w.apply("web", 12, {.replicas = 1, .id = "d_other"});
  w.wait();
  EXPECT_EQ(w.outcome(12), "done");
  EXPECT_NE(w.replica_set("web").at_pointer("/metadata/uid"), uid);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/annotations/davit.dev~1id"), "d_other");
}

// Somebody's edit that our fields cannot stand beside: the API server refuses the sum.
TEST(Applier, TakesAwayWhatMakesItsApplyInvalid) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  const auto container = [&] {
    return w.replica_set("web").at_pointer("/spec/template/spec/containers/0").as_object();
  };
  const json::object before = container();
  json::object edited = before;
  json::object& variable = edited.at("env").as_array().at(0).as_object();
  variable.erase("value");
  variable["valueFrom"] = {{"fieldRef", {{"fieldPath", "metadata.name"}}}};
  const json::value patch = {
      {"metadata", {{"labels", {{"theirs", "stays"}}}}},
      {"spec", {{"template", {{"spec", {{"containers", json::array{edited}}}}}}}}};
  const auto theirs = w.call(DAVIT_VERB_MERGE, "replicasets", "acme", "web", json::serialize(patch),
                             {{"fieldManager", "somebody"}});
  ASSERT_EQ(theirs.code, Code::ok) << theirs.message;
  w.wait();
  EXPECT_EQ(container(), before);
  EXPECT_EQ(w.replica_set("web").at_pointer("/metadata/labels/theirs"), "stays");
  EXPECT_TRUE(w.issues.empty());
  // What is wrong in itself stays refused.
  w.apply("web", 11, {-1});
  w.wait();
  EXPECT_EQ(w.outcome(11), "parked");
}

}  // namespace
}  // namespace davit::applier::test
