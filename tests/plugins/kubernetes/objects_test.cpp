// What is read of any observed object.
#include "kubernetes/objects.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

TEST(Objects, AreKnownByGroupAndKindInAnyVersion) {
  const std::tuple<const char*, const char*, bool> rows[] = {
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet"})", "apps", true},
      {R"({"apiVersion":"apps/v2beta1","kind":"ReplicaSet"})", "apps", true},
      {R"({"apiVersion":"apps.example/v1","kind":"ReplicaSet"})", "apps", false},
      {R"({"apiVersion":"v1","kind":"ReplicaSet"})", "apps", false},
      {R"({"apiVersion":"v1","kind":"ReplicaSet"})", "", true},
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet"})", "", false},
      {R"({"apiVersion":"apps/v1","kind":"Deployment"})", "apps", false},
      {R"({"apiVersion":7,"kind":7})", "", false},
      {"7", "", false}};
  for (const auto& [object, group, expected] : rows)
    EXPECT_EQ(is(json::parse(object), group, "ReplicaSet"), expected) << object << group;
}

TEST(Objects, AreControlledByOneReplicaSet) {
  const std::pair<const char*, const char*> rows[] = {
      {R"([{"apiVersion":"v1","kind":"ConfigMap","name":"no","controller":true},
           {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"also-no"},
           {"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","controller":true}])",
       "web"},
      {R"([{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","controller":false}])", ""},
      {R"([7])", ""},
      {R"({})", ""}};
  for (const auto& [owners, expected] : rows) {
    const json::value pod{{"metadata", {{"ownerReferences", json::parse(owners)}}}};
    EXPECT_EQ(controlling_replica_set(pod), expected) << owners;
  }
}

TEST(Objects, SayWhyInTheirConditions) {
  const json::value object = json::parse(R"({"status":{"conditions":[7,{"type":"A"},
      {"type":"B","status":"False","reason":"Why","message":"because"},
      {"type":"C","status":"True","message":"only this"}]}})");
  EXPECT_EQ(saying(object, "A"), "");
  EXPECT_EQ(saying(object, "B"), "Why: because");
  EXPECT_EQ(saying(object, "C"), "only this");
  EXPECT_EQ(saying(object, "D"), "");
  EXPECT_TRUE(says(object, "B", "False"));
  EXPECT_FALSE(says(object, "B", "True"));
  EXPECT_FALSE(says(object, "D", "False"));
}

TEST(Objects, AreSeenOnceTheControllerHasActedOnTheirSpec) {
  const std::pair<const char*, bool> rows[] = {
      {R"({"metadata":{"generation":2},"status":{"observedGeneration":2}})", true},
      {R"({"metadata":{"generation":3},"status":{"observedGeneration":2}})", false},
      {R"({"metadata":{"generation":1}})", false},
      {R"({})", true}};
  for (const auto& [object, expected] : rows)
    EXPECT_EQ(is_seen(json::parse(object)), expected) << object;
}

}  // namespace
}  // namespace davit::kubernetes
