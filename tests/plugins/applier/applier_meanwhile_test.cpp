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

// As a proxy does that answers for the API server.
std::optional<cluster::Response> in_place_of_it(const cluster::Request& q, const char* answer) {
  if (q.verb != DAVIT_VERB_GET || q.resource.resource != "replicasets") return std::nullopt;
  cluster::Response r;
  r.http_status = 200;
  r.body = answer;
  return r;
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
  // Another region makes an object that an apply of this record's would fit: nine replicas.
  void another_region_makes(const std::string& name, const std::string& id) {
    call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
    const json::value labels{{"unkey.com/deployment.id", id}};
    const json::value pods{{"metadata", {{"labels", labels}}},
                           {"spec", json::parse(R"({"containers":[{"name":"c","image":"i"}]})")}};
    const json::value made{
        {"apiVersion", "apps/v1"},
        {"kind", "ReplicaSet"},
        {"metadata", {{"name", name}, {"labels", {{"davit.dev/region", "us"}}}}},
        {"spec", {{"replicas", 9}, {"selector", {{"matchLabels", labels}}}, {"template", pods}}}};
    const auto r = call(DAVIT_VERB_CREATE, "replicasets", "acme", "", json::serialize(made));
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void go_on() {
    front().release();
    wait();
  }
  // Names and images.
  std::vector<std::pair<std::string, std::string>> pods() {
    const json::value all = json::parse(call(DAVIT_VERB_GET, "pods", "acme", "", "").body);
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& pod : all.at("items").as_array()) {
      out.emplace_back(pod.at_pointer("/metadata/name").as_string(),
                       pod.at_pointer("/spec/containers/0/image").as_string());
    }
    return out;
  }
  int pods_of(const std::string& image) {
    int count = 0;
    for (const auto& [name, of] : pods()) count += of == image ? 1 : 0;
    return count;
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
  w.another_region_makes("api", "d_api");
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
  w.another_region_makes("web", "d_web");
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

// The pods that a ReplicaSet has made of somebody's edit carry our hash. Who takes the edit back
// without having seen it would take them for its own.
TEST(Meanwhile, PodsOfAnEditOfTheTemplateAreReplaced) {
  MeanwhileWorld w;
  w.apply("web", 21, {3});
  json::value edited = w.replica_set("web").at_pointer("/spec/template");
  edited.at_pointer("/spec/containers/0").as_object()["image"] = "meddled:1";
  w.edit("web", json::serialize(json::object{{"spec", json::object{{"template", edited}}}}));
  w.call(DAVIT_VERB_DELETE, "pods", "acme", w.pods().front().first, "{}");
  w.wait(100ms);
  EXPECT_EQ(w.pods_of("meddled:1"), 1);
  w.go_on();
  w.wait(2min);
  EXPECT_EQ(w.pods_of("meddled:1"), 0);
  EXPECT_EQ(w.pods_of("nginx:1"), 3);
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

TEST(Meanwhile, WhatIsAnsweredInPlaceOfTheObjectIsNotJudged) {
  for (const char* answer : {R"({"kind":"Status"})", R"({"metadata":7})", "[]", "busy"}) {
    MeanwhileWorld w;
    w.edit("web", R"({"spec":{"replicas":5}})");
    w.wait();
    w.edit("web", R"({"metadata":{"labels":{"theirs":"stays"}}})");
    w.front().policy = [answer](const cluster::Request& q) { return in_place_of_it(q, answer); };
    w.go_on();
    EXPECT_GT(w.front().sent["get replicasets"], 0u) << answer;
    w.front().policy = nullptr;
    w.wait(1min);
    EXPECT_EQ(w.replicas("web"), 2) << answer;
  }
}

TEST(Meanwhile, WhatIsAnsweredInPlaceOfTheObjectHasNoFieldsToTakeOver) {
  MeanwhileWorld w;
  w.front().release();
  w.front().policy = [](const cluster::Request& q) {
    if (!is_apply(q)) return in_place_of_it(q, R"({"metadata":7})");
    return std::optional(
        refusal(422, "Invalid", "spec.theirs: Forbidden: may not be set",
                R"([{"reason":"FieldValueForbidden","field":"spec.theirs","message":"no"}])"));
  };
  w.apply("web", 21, {3});
  w.wait();
  EXPECT_GT(w.front().sent["get replicasets"], 0u);
  EXPECT_EQ(w.outcome(21), "") << "it is tried again";
  w.front().policy = nullptr;
  w.wait(1min);
  EXPECT_EQ(w.outcome(21), "done");
  EXPECT_EQ(w.replicas("web"), 3);
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
  w.another_region_makes("web", "d_other");
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
