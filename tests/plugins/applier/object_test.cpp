#include "object.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace davit::applier {
namespace {

uint64_t project(const char* observed, const char* shape) {
  const json::value o = json::parse(observed), s = json::parse(shape);
  return projection(&o, s);
}
uint64_t print(const char* text) {
  return fingerprint(json::parse(text));
}

TEST(Projection, EqualsTheShapeWhenNothingDrifted) {
  const char* shape = R"({"spec":{"replicas":2,"list":[{"a":1},{"b":"x"}]}})";
  EXPECT_EQ(
      project(
          R"({"spec":{"list":[{"a":1,"z":0},{"b":"x"}],"replicas":2,"added":true},"status":{}})",
          shape),
      print(shape));
}

TEST(Projection, SeesEveryChangeOfWhatWasApplied) {
  const char* shape = R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}],"none":null}})";
  const uint64_t same = print(shape);
  for (const char* drifted : {
           R"({"spec":{"replicas":3,"on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":"2","on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":2,"on":false,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"on":true,"list":[{"a":1},{"b":"x"}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"b":"x"},{"a":1}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"},{}]}})",
           R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}],"none":0}})",
           R"({"spec":7})",
           R"({})",
       }) {
    EXPECT_NE(project(drifted, shape), same) << drifted;
  }
  EXPECT_EQ(project(R"({"spec":{"replicas":2,"on":true,"list":[{"a":1},{"b":"x"}]}})", shape), same)
      << "an absent member is what null asks for";
}

TEST(Fingerprint, DoesNotDependOnTheOrderOfMembers) {
  EXPECT_EQ(print(R"({"a":1,"b":{"c":2,"d":3}})"), print(R"({"b":{"d":3,"c":2},"a":1})"));
  EXPECT_NE(print(R"({"a":1,"b":2})"), print(R"({"a":2,"b":1})"));
  EXPECT_NE(print(R"(["a","b"])"), print(R"(["b","a"])"));
}

TEST(LabelValue, IsSafeAndDistinct) {
  EXPECT_EQ(label_value("us-east-1"), "us-east-1");
  EXPECT_NE(label_value("us east"), "us east");
  EXPECT_NE(label_value("us east"), label_value("us/east"));
  for (const std::string& text :
       {std::string("/// "), std::string(200, 'x'), std::string("-a-"), std::string("ü")}) {
    const std::string v = label_value(text);
    EXPECT_LE(v.size(), 63u);
    ASSERT_FALSE(v.empty());
    EXPECT_TRUE(isalnum(static_cast<unsigned char>(v.front())) &&
                isalnum(static_cast<unsigned char>(v.back())))
        << v;
  }
}

TEST(ResourceVersions, AreComparedAsNumbers) {
  EXPECT_TRUE(not_older("100", "99"));
  EXPECT_TRUE(not_older("100", "100"));
  EXPECT_FALSE(not_older("99", "100"));
  EXPECT_TRUE(not_older("abc", "100")) << "one we cannot compare is taken for newer";
}

kind::Resource resource(int32_t role, std::vector<std::string> keep = {}) {
  return {role, "apps", "v1", "replicasets", "ReplicaSet", true, "", std::move(keep)};
}

TEST(Compact, KeepsOfASeenObjectItsMetadataAndWhatIsAskedFor) {
  json::value v =
      json::parse(R"({"metadata":{"name":"p","labels":{"a":"b"},"managedFields":[{"manager":"x"}]},
    "spec":{"containers":[{"image":"i","resources":{"limits":{"cpu":"1"}}},{"image":"j"}]},
    "status":{"phase":"Running","podIP":"10.0.0.1","noise":[1,2]}})");
  compact(v.get_object(),
          resource(DAVIT_RESOURCE_SEEN,
                   {"/status/phase", "/spec/containers/0/resources/limits", "/status/none"}),
          "krane");
  EXPECT_EQ(
      v,
      json::parse(
          R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"p","labels":{"a":"b"}},
    "status":{"phase":"Running"},"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}})"));
}

TEST(Compact, StoresOfASeenObjectItsIdentityAndWhatIsAskedFor) {
  json::value v = json::parse(
      R"({"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7","generateName":"p-",
    "deletionTimestamp":"t","labels":{"a":"b"},"annotations":{"x/hash":"h","y":"z"},"ownerReferences":[{}]},
    "status":{"conditions":[{"type":"Ready","status":"True","since":"t"},{"type":"Other"}],"list":[]}})");
  const auto as = resource(DAVIT_RESOURCE_SEEN,
                           {"/metadata/annotations/x~1hash", "/status/conditions/*/type",
                            "/status/conditions/*/status", "/status/list/*/a", "/status/list/3"});
  compact(v.get_object(), as, "krane");
  forget_metadata(v.get_object(), as);
  EXPECT_EQ(v, json::parse(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"p",
    "namespace":"n","uid":"u","resourceVersion":"7","deletionTimestamp":"t","annotations":{"x/hash":"h"}},
    "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other"}],"list":null}})"))
      << v;
}

TEST(Compact, KeepsOfAnOwnedObjectTheFieldOwnersThatAreNotUs) {
  json::value v = json::parse(
      R"({"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"p","managedFields":[
    {"manager":"krane","operation":"Apply"},
    {"manager":"kube-controller-manager","operation":"Update","subresource":"status"},
    {"manager":"hpa","operation":"Update","subresource":"scale"}]},"spec":{"x":1}})");
  compact(v.get_object(), resource(DAVIT_RESOURCE_OWNED), "krane");
  EXPECT_EQ(v.at_pointer("/metadata/managedFields"),
            json::parse(R"([{"manager":"hpa","operation":"Update","subresource":"scale"}])"));
  EXPECT_EQ(v.at_pointer("/spec/x"), 1);
}

}  // namespace
}  // namespace davit::applier
