// Which sentinel an object of the cluster belongs to.
#include "message.hpp"
#include "observed.hpp"

namespace davit::sentinel::test {
namespace {

json::value pod(const char* owner, const char* hash) {
  return json::parse(
      std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"sentinel",
    "name":"edge-6f-abcde","labels":{"app.kubernetes.io/managed-by":"krane",
    "app.kubernetes.io/component":"sentinel","unkey.com/sentinel.id":"s_1","pod-template-hash":")") +
      hash + R"("},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",
    "controller":true,"name":")" +
      owner + R"("}]}})");
}

TEST(Attribute, FindsTheSentinelOfEveryRenderedObject) {
  const json::object message = minimal();
  const json::array objects = landed(planned(&message, {}));
  ASSERT_EQ(objects.size(), 5u);
  for (const auto& object : objects) {
    const auto named = attribute(object, {});
    ASSERT_TRUE(named.ok()) << object;
    EXPECT_EQ(*named, (Named{"s_1", "sentinel", "edge"})) << object;
  }
}

TEST(Attribute, FindsThePodsByTheirReplicaSet) {
  EXPECT_EQ(attribute(pod("edge-6f", "6f"), {}).value(), (Named{"s_1", "sentinel", "edge"}));
  EXPECT_FALSE(attribute(pod("edge-6f", "7a"), {}).ok())
      << "of a ReplicaSet that no Deployment made";
  EXPECT_FALSE(attribute(pod("-6f", "6f"), {}).ok());
  EXPECT_FALSE(attribute(pod("edge-6f", ""), {}).ok());
}

TEST(Attribute, LeavesOthersAlone) {
  const json::object message = minimal();
  const json::value ours = landed(planned(&message, {})).at(0);
  auto changed = [&](const char* parent, const char* key, const char* to) {
    json::value v = ours;
    v.at_pointer(parent).as_object()[key] = to;
    return attribute(v, {});
  };
  ASSERT_TRUE(changed("/metadata/labels", "more", "x").ok());
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"/metadata/labels", "app.kubernetes.io/managed-by", "helm"},
      {"/metadata/labels", "unkey.com/sentinel.id", ""},
      {"/metadata/labels", "app.kubernetes.io/component", "gossip-lan"},
      {"", "kind", "StatefulSet"},
      {"", "apiVersion", "v1"},
      {"/metadata", "name", ""},
      {"/metadata", "namespace", ""}};
  for (const auto& [parent, key, to] : rows) {
    const auto named = changed(parent, key, to);
    ASSERT_FALSE(named.ok()) << key;
    EXPECT_EQ(named.error().code, Code::not_found) << key;
  }
}

}  // namespace
}  // namespace davit::sentinel::test
