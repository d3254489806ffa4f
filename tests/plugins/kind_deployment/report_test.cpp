#include "ctrl_report.hpp"

#include <gtest/gtest.h>

namespace davit::deployment {
namespace {

Status two_pods() {
  Status s;
  s.health = "progressing";
  s.desired = 3;
  s.ready = 1;
  s.children = {{"web-a", "10-1-0-1.acme.pod.cluster.local:8080", "running", 250, 256},
                {"web-b", "10-1-0-2.acme.pod.cluster.local:8080", "pending", 250, 256}};
  return s;
}

TEST(CtrlReport, SaysDeleteByNamespaceAndName) {
  EXPECT_EQ(delete_message({"d_1", "acme", "web"}),
            R"({"delete":{"k8s_namespace":"acme","k8s_name":"web"}})");
}

TEST(CtrlReport, ListsEveryInstance) {
  EXPECT_EQ(
      to_report({"d_1", "acme", "web"}, two_pods()),
      R"({"update":{"k8s_name":"web","instances":[)"
      R"({"k8s_name":"web-a","address":"10-1-0-1.acme.pod.cluster.local:8080","cpu_millicores":"250",)"
      R"("memory_mib":"256","status":"STATUS_RUNNING"},)"
      R"({"k8s_name":"web-b","address":"10-1-0-2.acme.pod.cluster.local:8080","cpu_millicores":"250",)"
      R"("memory_mib":"256","status":"STATUS_PENDING"}]}})");
}

TEST(CtrlReport, SaysDeleteWhenNothingIsLeft) {
  Status s;
  s.gone = true;
  EXPECT_EQ(to_report({"d_1", "acme", "web"}, s), R"({"delete":{"k8s_name":"web"}})");
}

TEST(CtrlReport, ReadsBackWhatItWrote) {
  const auto r = from_report(to_report({"d_1", "acme", "web"}, two_pods()));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->first, (Named{"", "", "web"}));
  EXPECT_EQ(r->second.children, two_pods().children);
  EXPECT_EQ(r->second.ready, 1);
  EXPECT_EQ(r->second.desired, 2);
  EXPECT_EQ(r->second.health, "progressing");
  EXPECT_FALSE(r->second.gone);
}

TEST(CtrlReport, ReadsADelete) {
  const auto r = from_report(R"({"delete":{"k8s_name":"web"}})");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->first.name, "web");
  EXPECT_TRUE(r->second.gone);
}

TEST(CtrlReport, DerivesHealthFromInstances) {
  const std::pair<const char*, const char*> rows[] = {
      {R"([])", "unknown"},
      {R"([{"k8s_name":"a","status":"STATUS_RUNNING"}])", "healthy"},
      {R"([{"k8s_name":"a","status":"STATUS_RUNNING"},{"k8s_name":"b"}])", "progressing"},
      {R"([{"k8s_name":"a","status":"STATUS_RUNNING"},{"k8s_name":"b","status":"STATUS_FAILED"}])",
       "unhealthy"},
  };
  for (const auto& [instances, health] : rows) {
    const auto r =
        from_report(R"({"update":{"k8s_name":"web","instances":)" + std::string(instances) + "}}");
    ASSERT_TRUE(r.ok()) << instances;
    EXPECT_EQ(r->second.health, health) << instances;
  }
}

TEST(CtrlReport, TakesAnUnspecifiedOrUnknownStatusAsInactive) {
  for (const char* status : {"", R"(,"status":"STATUS_UNSPECIFIED")", R"(,"status":99)"}) {
    const auto r = from_report(R"({"update":{"k8s_name":"web","instances":[{"k8s_name":"a")" +
                               std::string(status) + "}]}}");
    ASSERT_TRUE(r.ok()) << status;
    EXPECT_EQ(r->second.children.at(0).status, "inactive") << status;
  }
}

TEST(CtrlReport, RefusesWhatSaysNothing) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({})", ": exactly one of update and delete is needed"},
      {R"({"update":{"k8s_name":"a"},"delete":{"k8s_name":"a"}})",
       ": exactly one of update and delete is needed"},
      {R"({"update":{}})", "update.k8s_name: is missing"},
      {R"({"delete":7})", "delete: must be an object, not a number"},
      {R"({"update":{"k8s_name":"a","instances":{}}})", "update.instances: must be a list"},
      {R"({"update":{"k8s_name":"a","instances":[7]}})", "update.instances[0]: must be an object"},
      {R"({"update":{"k8s_name":"a","instances":[{}]}})",
       "update.instances[0].k8s_name: is missing"},
      {R"({"update":{"k8s_name":"a","instances":[{"k8s_name":"b","memory_mib":"-1"}]}})",
       "update.instances[0].memory_mib: must be at least 0, not -1"},
      {R"([])", ": the report is not a JSON object"},
  };
  for (const auto& [report, fault] : rows) {
    const auto r = from_report(report);
    ASSERT_FALSE(r.ok()) << report;
    EXPECT_EQ(r.error().where + ": " + r.error().message, fault);
  }
}

}  // namespace
}  // namespace davit::deployment
