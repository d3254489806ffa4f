// What is applied and deleted, and what the record's status says, as the cluster changes.
#include "message.hpp"

namespace davit::manifest::test {
namespace {

json::object terminating(json::value object) {
  object.as_object()["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return object.as_object();
}

TEST(ManifestReconcile, DeletesWhatHasLeftTheRecordAndNothingElse) {
  const json::object both =
      message({config_map("a"), config_map("b"), object("v1", "Service", "web"),
               object("apps/v1", "Deployment", "web")});
  const json::object less = message({config_map("a")});
  const json::array there = landed(answered(&both, {}));
  const json::object answer = answered(&less, there);
  EXPECT_EQ(applied(answer), "ConfigMap/a");
  EXPECT_EQ(deleted(answer), "deployments/web services/web configmaps/b");
  EXPECT_EQ(answer.at("status").at("stale"), 3);
  EXPECT_EQ(answer.at("status").at("health"), "progressing");
  EXPECT_EQ(answer.at("status").at("message"), "3 objects are still to go");
}

TEST(ManifestReconcile, DeletesNoCopy) {
  const json::object m = message({config_map("a")});
  json::array there = landed(answered(&m, {}));
  there.push_back(there.at(0));
  there.at(1).as_object()["metadata"].as_object()["name"] = "copy";
  EXPECT_EQ(deleted(answered(&m, there)), "");
  EXPECT_EQ(deleted(answered(nullptr, there)), "configmaps/a");
}

TEST(ManifestReconcile, DeletesNothingTwice) {
  const json::object m = message({config_map("a"), config_map("b")});
  json::array there = landed(answered(&m, {}));
  there.at(0) = terminating(there.at(0));
  const json::object answer = answered(nullptr, there);
  EXPECT_EQ(deleted(answer), "configmaps/b");
  EXPECT_EQ(answer.at("status").at("message"),
            "being deleted; 2 objects are left, such as ConfigMap/a");
  EXPECT_EQ(answered(nullptr, {}).at("status").at("gone"), true);
}

// The objects of the version before are still there: they say nothing about this one.
TEST(ManifestReconcile, IsNotHealthyBeforeItsNewVersionIsApplied) {
  const json::object before = message({config_map("a", "1")}),
                     now = message({config_map("a", "2")});
  const json::array there = landed(answered(&before, {}));
  EXPECT_EQ(answered(&before, there).at("status").at("health"), "healthy");
  const json::object status = answered(&now, there).at("status").as_object();
  EXPECT_EQ(status.at("health"), "progressing");
  EXPECT_EQ(status.at("updated"), 0);
  EXPECT_EQ(status.at("message"), "ConfigMap/a: is not yet as the record has it");
}

TEST(ManifestReconcile, NamesTheWorstObjectFirstAndCountsAll) {
  const json::object m =
      message({config_map("a"), config_map("gone"), object("batch/v1", "Job", "once"),
               object("apps/v1", "Deployment", "web")});
  json::array there = landed(answered(&m, {}));
  there.erase(there.begin() + 1);
  for (auto& o : there) {
    if (o.at("kind") != "Job") continue;
    o.as_object()["status"] = {
        {"conditions", json::array{{{"type", "Failed"}, {"status", "True"}, {"reason", "Late"}}}}};
  }
  const json::object status = answered(&m, there).at("status").as_object();
  EXPECT_EQ(status.at("health"), "unhealthy");
  EXPECT_EQ(status.at("message"), "Job/once: Late (and 2 more)");
  EXPECT_EQ(status.at("desired"), 4);
  EXPECT_EQ(status.at("updated"), 3);
  EXPECT_EQ(status.at("ready"), 1);
  const json::value& detail = status.at("detail");
  EXPECT_EQ(detail.at("objects"),
            (json::object{{"failed", 1}, {"missing", 1}, {"progressing", 1}, {"healthy", 1}}));
  EXPECT_EQ(detail.at("unhealthy"), (json::array{"Job/once", "ConfigMap/gone", "Deployment/web"}));
  EXPECT_EQ(detail.at("why").at(1), (json::object{{"object", "ConfigMap/gone"},
                                                  {"state", "missing"},
                                                  {"message", "is not there yet"}}));
}

TEST(ManifestReconcile, SaysSoMuchOfSoManyObjectsAndNoMore) {
  json::array objects;
  for (int i = 0; i < 1000; ++i) objects.push_back(config_map(("c" + std::to_string(i)).c_str()));
  const json::object m = message(objects);
  const json::object status = answered(&m, {}).at("status").as_object();
  EXPECT_EQ(status.at("detail").at("unhealthy").as_array().size(), 10u);
  EXPECT_EQ(status.at("detail").at("why").as_array().size(), 50u);
  EXPECT_EQ(status.at("message"), "ConfigMap/c0: is not there yet (and 999 more)");
  EXPECT_LT(json::serialize(status).size(), 16u << 10);
}

TEST(ManifestReconcile, OfALongReasonKeepsTheBeginning) {
  const json::object m = message({object("batch/v1", "Job", "once")});
  json::array there = landed(answered(&m, {}));
  there.at(0).as_object()["status"] = {
      {"conditions",
       json::array{
           {{"type", "Failed"}, {"status", "True"}, {"message", std::string(100'000, 'x')}}}}};
  EXPECT_LT(json::serialize(answered(&m, there).at("status")).size(), 2000u);
}

TEST(ManifestReconcile, EnsuresItsNamespace) {
  const json::object m = message({config_map("a")});
  const json::object answer = answered(&m, {});
  EXPECT_EQ(answer.at("apply").at(0),
            (json::object{
                {"object",
                 {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "shop"}}}}},
                {"mode", "ensure"}}));
}

}  // namespace
}  // namespace davit::manifest::test
