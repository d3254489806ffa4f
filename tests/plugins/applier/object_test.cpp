#include "object.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace davit::applier {
namespace {

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
