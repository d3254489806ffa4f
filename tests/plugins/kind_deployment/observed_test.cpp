#include "observed.hpp"

#include <gtest/gtest.h>

#include "message.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

json::value pod(const char* status) {
  json::object o{{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata", {{"name", "web-a"}, {"namespace", "acme"}}}};
  o["status"] = json::parse(status);
  return o;
}
Pod read_one(const json::value& v) {
  return read_observed({v}, {}).pods.at(0);
}

TEST(Observed, AddressesByDnsNameOrIp) {
  Site by_ip;
  by_ip.address_is_ip = true;
  const struct {
    const char* status;
    const char* dns;
    const char* ip;
  } rows[] = {
      {R"({"podIP":"10.1.2.3"})", "10-1-2-3.acme.pod.cluster.local:8080", "10.1.2.3:8080"},
      {R"({"podIP":"fd00::a1"})", "fd00--a1.acme.pod.cluster.local:8080", "[fd00::a1]:8080"},
      {R"({"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"},{"ip":"fd00::1"}]})",
       "10-1-2-3.acme.pod.cluster.local:8080", "10.1.2.3:8080"},
      {R"({"podIPs":[{"ip":"fd00::1"}]})", "fd00--1.acme.pod.cluster.local:8080", "[fd00::1]:8080"},
  };
  for (const auto& row : rows) {
    const Pod p = read_one(pod(row.status));
    EXPECT_EQ(address_of(p, 8080, {}), row.dns);
    EXPECT_EQ(address_of(p, 8080, by_ip), row.ip);
  }
  EXPECT_TRUE(read_one(pod("{}")).ip.empty());
}

TEST(Observed, SeesWhetherSomebodyElseScales) {
  const std::pair<const char*, bool> rows[] = {
      {R"([])", false},
      {R"([{"operation":"Apply","fieldsV1":{"f:spec":{"f:replicas":{}}}}])", false},
      {R"([{"operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}])",
       true},
      {R"([{"operation":"Update","subresource":"status","fieldsV1":{"f:status":{"f:replicas":{}}}}])",
       false},
  };
  for (const auto& [fields, expected] : rows) {
    json::object rs{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}};
    rs["metadata"] = {{"name", "web"}, {"namespace", "acme"}};
    rs["metadata"].as_object()["managedFields"] = json::parse(fields);
    EXPECT_EQ(read_observed({rs}, {}).find(Controller::replica_set)->replicas_of_other, expected)
        << fields;
  }
}

TEST(Observed, SeesNoAutoscalerWhereTheSiteHasNone) {
  json::object hpa{{"apiVersion", "autoscaling/v2"}, {"kind", "HorizontalPodAutoscaler"}};
  hpa["metadata"] = {{"name", "web"}, {"namespace", "acme"}};
  Site site;
  EXPECT_TRUE(read_observed({hpa}, site).autoscaler.has_value());
  site.autoscaling = false;
  EXPECT_FALSE(read_observed({hpa}, site).autoscaler.has_value());
}

TEST(Observed, AttributesObjectsByLabelsAndOwner) {
  const std::string ours =
      R"("labels":{"app.kubernetes.io/managed-by":"krane",)"
      R"("app.kubernetes.io/component":"deployment","unkey.com/deployment.id":"d_1"})";
  const std::string owner =
      R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"no"},)"
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","controller":true}])";
  const std::string place = R"("namespace":"acme",)";
  const std::pair<std::string, const char*> rows[] = {
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web",)" + place + ours +
           "}}",
       "d_1/acme/web"},
      {R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"web",)" +
           place + ours + "}}",
       "d_1/acme/web"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-x",)" + place + ours + "," +
           owner + "}}",
       "d_1/acme/web"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-x",)" + place + ours + "}}",
       "none"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-x",)" + place + owner + "}}",
       "none"},
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"acme"}})",
       "none"},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",)" + place + ours +
           "}}",
       "none"},
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{)" + place + ours + "}}", "none"},
      {"{}", "none"},
      {"7", "none"},
  };
  for (const auto& [object, expected] : rows) {
    const auto named = attribute(json::parse(object), {});
    EXPECT_EQ(named.ok() ? named->id + "/" + named->ns + "/" + named->name : "none", expected)
        << object;
    EXPECT_TRUE(named.ok() || named.error().code == Code::not_found) << object;
  }
}

TEST(Observed, AttributesPodsToTheWorkloadBehindTheirController) {
  Site site;
  site.controllers = {Controller::replica_set, Controller::deployment, Controller::stateful_set};
  const auto named = [&](const char* kind, const json::object& labels, const char* owner_kind,
                         const char* owner, const char* name = "web") {
    json::object metadata{{"name", name}, {"namespace", "acme"}};
    json::object& all = metadata["labels"].emplace_object();
    all = {{"app.kubernetes.io/managed-by", "krane"},
           {"app.kubernetes.io/component", "deployment"},
           {"unkey.com/deployment.id", "d_1"}};
    for (const auto& [key, value] : labels) all[key] = value;
    if (*owner_kind != '\0') {
      metadata["ownerReferences"] = json::array{
          {{"apiVersion", "apps/v1"}, {"kind", owner_kind}, {"name", owner}, {"controller", true}}};
    }
    const bool pod = std::string_view(kind) == "Pod";
    const auto found = attribute(json::object{{"apiVersion", pod ? "v1" : "apps/v1"},
                                              {"kind", kind},
                                              {"metadata", std::move(metadata)}},
                                 site);
    return found.ok() ? found->name : "none";
  };
  const json::object of_deployment{{"davit.dev/controller", "deployment"},
                                   {"pod-template-hash", "6d5f"}};
  const json::object of_set{{"davit.dev/controller", "stateful_set"}};
  EXPECT_EQ(named("Pod", of_deployment, "ReplicaSet", "web-1-6d5f"), "web-1");
  EXPECT_EQ(named("Pod", of_deployment, "ReplicaSet", "web-1"), "none") << "not of a Deployment";
  EXPECT_EQ(named("Pod", of_deployment, "ReplicaSet", "-6d5f"), "none");
  EXPECT_EQ(named("Pod", of_set, "StatefulSet", "web"), "web");
  EXPECT_EQ(named("Pod", of_set, "ReplicaSet", "web"), "none");
  EXPECT_EQ(named("Pod", {}, "StatefulSet", "web"), "none");
  // A StatefulSet that is made anew leaves its pods without a controller for a while.
  json::object orphaned = of_set;
  orphaned["statefulset.kubernetes.io/pod-name"] = "web-3-0";
  EXPECT_EQ(named("Pod", orphaned, "", "", "web-3-0"), "web-3");
  EXPECT_EQ(named("Pod", orphaned, "", "", "copy-0"), "none") << "somebody's copy";
  EXPECT_EQ(named("Pod", orphaned, "Job", "job", "web-3-0"), "none") << "it belongs to another";
  EXPECT_EQ(named("Pod", of_set, "", "", "web-3-0"), "none");
  EXPECT_EQ(named("Deployment", {}, "", ""), "web");
  EXPECT_EQ(named("StatefulSet", {}, "", ""), "web");
  EXPECT_EQ(named("ReplicaSet", {}, "", ""), "web");
  EXPECT_EQ(named("ReplicaSet", of_deployment, "Deployment", "web"), "none")
      << "a part of the Deployment";
}

TEST(Observed, PassesOverWhatItDoesNotKnow) {
  const auto o = read_observed(
      {json::value(7), json::object{}, json::object{{"kind", "Pod"}, {"apiVersion", 7}}}, {});
  EXPECT_TRUE(o.controllers.empty());
  EXPECT_EQ(read_observed({json::object{{"kind", "Secret"}, {"apiVersion", "v1"}}}, {}).pods.size(),
            0u);
}

}  // namespace
}  // namespace davit::deployment::test
