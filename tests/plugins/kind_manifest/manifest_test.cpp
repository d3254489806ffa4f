// What a manifest may have, and what is refused: every row is the whole message.
#include "message.hpp"

namespace davit::manifest::test {
namespace {

json::object with_metadata(const char* key, json::value value) {
  json::object o = config_map("a");
  o["metadata"].as_object()[key] = std::move(value);
  return message({o});
}

TEST(Manifest, IsCalledByItsIdOrByNamespaceAndName) {
  json::object m = message({config_map("a")});
  EXPECT_EQ(*identify(json::serialize(m)), (Named{"shop.web", "shop", "web"}));
  m["id"] = "m_1";
  EXPECT_EQ(*identify(json::serialize(m)), (Named{"m_1", "shop", "web"}));
}

TEST(Manifest, TakesWhatToolsWriteWithoutMeaning) {
  json::object o = config_map("a");
  o["status"] = json::object();
  o["metadata"] = {{"name", "a"},
                   {"namespace", "shop"},
                   {"creationTimestamp", nullptr},
                   {"annotations", nullptr},
                   {"finalizers", json::array{"example.com/f"}}};
  const json::object m = message({o});
  ASSERT_EQ(fault_of(m), "");
  const auto read = read_manifest(m, {});
  EXPECT_EQ(
      read->objects.at(0).object,
      (json::object{
          {"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", "a"}, {"namespace", "shop"}, {"finalizers", json::array{"example.com/f"}}}},
          {"data", {{"key", "1"}}}}));
}

TEST(Manifest, KeepsEveryFieldThatItDoesNotKnow) {
  const json::object m = message({object("v1", "ConfigMap", "a",
                                         {{"later", {{"a", 18446744073709551615u}, {"b", nullptr}}},
                                          {"data", {{"z", "1"}, {"a", "2"}}}})});
  const auto read = read_manifest(m, {});
  ASSERT_TRUE(read.ok());
  json::object kept = read->objects.at(0).object;
  kept["metadata"].as_object().erase("namespace");
  EXPECT_EQ(json::serialize(kept), json::serialize(m.at("objects").at(0)));
}

TEST(Manifest, RefusesNamesThatNoClusterTakes) {
  json::object m = message({config_map("a")});
  m["namespace"] = "Shop";
  EXPECT_TRUE(fault_of(m).starts_with("namespace: must be a DNS label"));
  m["namespace"] = "shop";
  m["name"] = "a/b";
  EXPECT_TRUE(fault_of(m).starts_with("name: must be a DNS name"));
  m.erase("name");
  EXPECT_EQ(fault_of(m), "name: is missing");
}

TEST(Manifest, RefusesToBeEmptyOrTooLarge) {
  EXPECT_EQ(fault_of(message({})), "objects: must be a list of at least one object");
  json::array many;
  for (size_t i = 0; i <= objects_max; ++i)
    many.push_back(config_map(("c" + std::to_string(i)).c_str()));
  EXPECT_EQ(fault_of(message(many)),
            "objects: has 1001 objects, and may have 1000: make several records of them");
  many.pop_back();
  EXPECT_EQ(fault_of(message(many)), "");
}

TEST(Manifest, SaysOfEachObjectWhatIsWrongAndWhere) {
  Site site = site_with({"v1/ConfigMap", "apps/v1/Deployment"});
  const std::pair<json::value, const char*> rows[] = {
      {7, "objects[1]: must be an object of Kubernetes"},
      {json::object{}, "objects[1].apiVersion: is missing"},
      {json::object{{"apiVersion", "v1"}}, "objects[1].kind: is missing"},
      {json::object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}},
       "objects[1].metadata: ConfigMap: is missing"},
      {json::object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", 1}},
       "objects[1].metadata: ConfigMap: must be an object"},
      {json::object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"labels", {}}}}},
       "objects[1].metadata.name: ConfigMap: is missing"},
      {object("v1", "ConfigMap", "A b"),
       "objects[1].metadata.name: ConfigMap A b: must be a DNS name (at most 253 lower-case "
       "letters, digits, \"-\" and \".\"), not \"A b\""},
      {object("v1", "Secret", "s"),
       "objects[1].kind: Secret s: v1/Secret is not among the `kinds` that manifests may have "
       "here"},
      {object("apps/v1beta1", "Deployment", "d"),
       "objects[1].apiVersion: Deployment d: must be apps/v1, as `kinds` has it here, not "
       "apps/v1beta1"},
      {object("v1", "Namespace", "n"),
       "objects[1].kind: Namespace n: is not of a namespace; a manifest has objects of one "
       "namespace only"},
      {json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array()}},
       "objects[1].kind: List: is a list: write its items one by one"},
      {object("v1", "ConfigMap", "c", {{"status", {{"a", 1}}}}),
       "objects[1].status: ConfigMap c: is what the cluster reports: leave it out"},
      {config_map("a"), "objects[1]: ConfigMap a: is there twice"},
  };
  for (const auto& [value, fault] : rows)
    EXPECT_EQ(fault_of(message({config_map("a"), value}), site), fault);
}

TEST(Manifest, RefusesMetadataThatIsNotTheWriters) {
  for (const char* key : {"uid", "resourceVersion", "managedFields", "generation", "selfLink",
                          "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"})
    EXPECT_EQ(fault_of(with_metadata(key, "x")),
              "objects[0].metadata." + std::string(key) +
                  ": ConfigMap a: is what the cluster writes: leave it out");
  EXPECT_EQ(fault_of(with_metadata("generateName", "a-")),
            "objects[0].metadata.generateName: ConfigMap a: makes another object each time: give "
            "the object a name");
  EXPECT_EQ(fault_of(with_metadata("namespace", "other")),
            "objects[0].metadata.namespace: ConfigMap a: must be \"shop\", the record's, and not "
            "\"other\": put it into a record of its own");
  EXPECT_EQ(fault_of(with_metadata("labels", {{"davit.dev/kind", "x"}})),
            "objects[0].metadata.labels[\"davit.dev/kind\"]: ConfigMap a: is Davit's own: leave it "
            "out");
  EXPECT_EQ(fault_of(with_metadata("annotations", {{"port", 8080}})),
            "objects[0].metadata.annotations[\"port\"]: ConfigMap a: must be a text: write it in "
            "quotes");
}

TEST(Manifest, TakesARoleOfAnyName) {
  const Site site = site_with({"rbac.authorization.k8s.io/v1/Role"});
  const auto role = [](const char* name) {
    return message({object("rbac.authorization.k8s.io/v1", "Role", name)});
  };
  EXPECT_EQ(fault_of(role("system:read"), site), "");
  EXPECT_NE(fault_of(role("a/b"), site), "");
}

TEST(Manifest, IsAppliedInTheOrderInWhichThingsNeedEachOther) {
  const json::object m = message({object("apps/v1", "Deployment", "web"), config_map("b"),
                                  object("v1", "Service", "web"), config_map("a"),
                                  object("v1", "ServiceAccount", "web")});
  EXPECT_EQ(applied(answered(&m, {})),
            "ServiceAccount/web ConfigMap/b ConfigMap/a Service/web Deployment/web");
}

}  // namespace
}  // namespace davit::manifest::test
