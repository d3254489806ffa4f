// What people find at the objects: events of Kubernetes.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

// The events that the cluster has: "Warning Parked web: MESSAGE (x2)", sorted.
std::vector<std::string> events(World& w) {
  std::vector<std::string> out;
  const auto r = w.call(DAVIT_VERB_GET, "events", "", "", "");
  EXPECT_EQ(r.code, Code::ok) << r.message;
  const json::value list = json::parse(r.body);
  for (const json::value& item : list.at("items").as_array()) {
    const auto text = [&item](const char* pointer) {
      return std::string(item.at_pointer(pointer).as_string());
    };
    out.push_back(text("/type") + " " + text("/reason") + " " + text("/involvedObject/kind") + " " +
                  text("/involvedObject/name") + ": " + text("/message") + " (x" +
                  std::to_string(item.at("count").to_number<int>()) + ")");
  }
  std::sort(out.begin(), out.end());
  return out;
}

Front::Policy refuses(const std::string& message) {
  return [=](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_APPLY || q.resource.resource != "replicasets") return std::nullopt;
    return refusal(422, "Invalid", message);
  };
}

struct Running : World {
  explicit Running(const testing::Config& config = {}) : World(config) {
    begin(true, 1, 10);
    apply("web", 10);
    end(1, 10);
    wait();
  }
};

TEST(Event, WhatGoesWellIsNoNews) {
  Running w;
  w.remove("web", 11);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_TRUE(events(w).empty());
}

TEST(Event, AParkedRecordIsSaidAtTheObjectThatIsRefused) {
  Running w;
  const std::string uid = w.uid("web");
  w.front().policy = refuses("spec.replicas: too many");
  ApplyOptions more;
  more.replicas = 3;
  w.apply("web", 11, more);
  w.wait();
  ASSERT_EQ(w.outcome(11), "parked");
  ASSERT_EQ(events(w).size(), 1u);
  EXPECT_EQ(
      events(w)[0],
      "Warning Parked ReplicaSet web: deployment acme/web cannot be applied: replicasets.apps "
      "acme/web: 422 Invalid: spec.replicas: too many (x1)");
  const auto r = w.call(DAVIT_VERB_GET, "events", "acme", "", "");
  const json::value event = json::parse(r.body).at("items").as_array().at(0);
  EXPECT_EQ(event.at_pointer("/involvedObject/uid").as_string(), uid);
  EXPECT_EQ(event.at_pointer("/involvedObject/apiVersion").as_string(), "apps/v1");
  EXPECT_EQ(event.at_pointer("/involvedObject/namespace").as_string(), "acme");
}

TEST(Event, ThatOccursAgainIsCountedAndWrittenAtMostEveryTenMinutes) {
  Running w;
  w.front().policy = refuses("no");
  ApplyOptions more;
  more.replicas = 3;
  w.apply("web", 11, more);
  w.wait(26min);  // it is tried again every five minutes
  ASSERT_EQ(events(w).size(), 1u);
  EXPECT_EQ(w.count("events"), 3);
  EXPECT_NE(events(w)[0].find("(x5)"), std::string::npos) << events(w)[0];
}

TEST(Event, AMessageThatCannotBeReadIsSaidAtWhatRuns) {
  Running w;
  w.garbage("web", 11);
  w.wait();
  ASSERT_EQ(events(w).size(), 1u);
  EXPECT_EQ(events(w)[0].substr(0, 30), "Warning Parked ReplicaSet web:");
}

TEST(Event, ARepairSaysWhoseChangeWasTakenBack) {
  Running w;
  w.edit("web", R"({"spec":{"replicas":7}})");
  w.wait();
  ASSERT_EQ(w.replicas("web"), 1);
  ASSERT_EQ(events(w).size(), 1u);
  EXPECT_EQ(events(w)[0],
            "Normal Repaired ReplicaSet web: changed back to what deployment acme/web wants, after "
            "field manager \"kubectl\" had changed it (x1)");
}

// Another record takes over the name. Its selector is another one, which cannot be changed.
TEST(Event, AReplacementIsSaidAtTheNewObject) {
  Running w;
  const std::string uid = w.uid("web");
  w.apply("web", 12, {.id = "d_other"});
  w.wait();
  ASSERT_NE(w.uid("web"), uid);
  const auto said = events(w);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(
      said[0].rfind("Normal Replaced ReplicaSet web: deleted and made anew, because it cannot "
                    "be changed: ",
                    0),
      0u)
      << said[0];
  EXPECT_NE(said[0].find("spec.selector"), std::string::npos) << said[0];
}

TEST(Event, WhatIsPrunedIsSaid) {
  Running w;
  w.begin(true, 1, 20);
  w.end(0, 20);
  w.wait();
  ASSERT_EQ(w.replica_sets(), "");
  ASSERT_EQ(events(w).size(), 1u);
  EXPECT_EQ(events(w)[0],
            "Normal Pruned ReplicaSet web: deleted: the control plane no longer has deployment "
            "acme/web (x1)");
}

TEST(Event, ManyAtOnceAreLimitedAndTheRestIsCounted) {
  World w({{"events_per_minute", 5}});
  w.begin(true);
  w.front().policy = refuses("no");
  for (uint64_t n = 1; n <= 20; ++n) w.apply("web" + std::to_string(n), Version(n));
  w.end(20, 20);
  w.wait(5s);
  EXPECT_EQ(w.count("events"), 5);
  EXPECT_EQ(w.count("events_dropped"), 15);
}

TEST(Event, NoneIsWrittenAndNoRightIsNeededWhenTheyAreOff) {
  Running w({{"events_per_minute", 0}});
  w.front().denied = {"create events", "patch events"};
  EXPECT_EQ(w.check({{"events_per_minute", 0}}), "");
  w.edit("web", R"({"spec":{"replicas":7}})");
  w.wait();
  EXPECT_EQ(w.replicas("web"), 1);
  EXPECT_EQ(w.front().sent["apply events"], 0u);
}

TEST(Event, AnAccountThatMayNotWriteThemDoesEverythingElse) {
  Running w;
  w.front().denied = {"create events"};
  w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource != "events") return std::nullopt;
    return refusal(403, "Forbidden",
                   "events is forbidden: User \"davit\" cannot create resource \"events\" in API "
                   "group \"\"");
  };
  w.edit("web", R"({"spec":{"replicas":7}})");
  w.wait();
  EXPECT_EQ(w.replicas("web"), 1);
  EXPECT_EQ(w.count("events_dropped"), 1);
  EXPECT_EQ(w.issues["access to events"], "denied");
  EXPECT_NE(w.reasons["access to events"].find("or set events_per_minute = 0 for the applier"),
            std::string::npos)
      << w.reasons["access to events"];
}

TEST(Event, OneThatIsNeverAnsweredHoldsNothingUp) {
  Running w;
  w.front().hangs = [](const cluster::Request& q) { return q.resource.resource == "events"; };
  w.edit("web", R"({"spec":{"replicas":7}})");
  w.wait();
  w.edit("web", R"({"spec":{"replicas":8}})");
  w.wait();
  EXPECT_EQ(w.replicas("web"), 1);
}

}  // namespace
}  // namespace davit::applier::test
