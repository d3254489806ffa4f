// What is applied and deleted, by what the cluster shows.
#include "message.hpp"

namespace davit::cluster_record::test {
namespace {

std::string deleted(const json::object& answer) {
  std::string out;
  for (const auto& d : answer.at("delete").as_array()) {
    const auto part = [&](const char* key) { return std::string(d.at(key).as_string()); };
    out += (out.empty() ? "" : " ") + part("resource") + "." + part("group") + "/" +
           part("version") + " " + part("namespace") + "/" + part("name");
  }
  return out;
}

// Server-side apply takes from others what an object names. So it may name no more than the record
// says.
TEST(ClusterRender, NamesNothingThatIsOfOthers) {
  for (const json::object& m :
       {message(), message({{"provider_spec", {{"a", 1}}}}), message({{"paused", true}})}) {
    const json::object object = there(m);
    EXPECT_FALSE(object.contains("status")) << object;
    for (const char* of_others : {"finalizers", "ownerReferences", "resourceVersion", "uid"})
      EXPECT_FALSE(object.at("metadata").as_object().contains(of_others)) << object;
  }
  EXPECT_FALSE(there(message()).at("spec").as_object().contains("providerSpec"));
  const json::object plain = there(message());
  EXPECT_FALSE(
      plain.at("metadata").at("annotations").as_object().contains("cluster.x-k8s.io/paused"));
}

TEST(ClusterRender, MarksWhatItIsMadeOf) {
  const auto hash = [](const json::object& more) {
    const Record r = *read_record(message(more), {});
    return hash_of(render(r));
  };
  const std::string plain = hash({});
  EXPECT_EQ(hash({}), plain);
  EXPECT_EQ(plain.size(), 16u);
  for (const json::object& more :
       std::initializer_list<json::object>{{{"paused", true}},
                                           {{"labels", {{"a", "b"}}}},
                                           {{"annotations", {{"a", "b"}}}},
                                           {{"network", {{"service_domain", "x"}}}},
                                           {{"provider_spec", {{"a", 1}}}},
                                           {{"provider_spec", {{"a", 1.5}}}},
                                           {{"machine_class", {{"name", "x"}}}}})
    EXPECT_NE(hash(more), plain) << more;
}

TEST(ClusterAttribute, FindsTheRecordOfACluster) {
  const json::object object = there(message());
  EXPECT_EQ(attribute(json::serialize(object)).value(), (Named{"", "fleet", "eu-1"}));
}

TEST(ClusterAttribute, LeavesOthersAlone) {
  const json::value ours = there(message());
  const auto changed = [&](const char* parent, const char* key, const json::value& to) {
    json::value v = ours;
    v.at_pointer(parent).as_object()[key] = to;
    return attribute(json::serialize(v));
  };
  ASSERT_TRUE(changed("/metadata/labels", "more", "x").ok());
  const std::tuple<const char*, const char*, json::value> rows[] = {
      {"", "kind", "Machine"},
      {"", "apiVersion", "cluster.x-k8s.io/v1beta1"},
      {"/metadata", "labels", json::object{}},
      {"/metadata", "labels", 7},
      {"/metadata", "name", "a-copy-of-it"},
      {"/metadata", "name", ""},
      {"/metadata", "namespace", ""}};
  for (const auto& [parent, key, to] : rows) {
    const auto named = changed(parent, key, to);
    ASSERT_FALSE(named.ok()) << key << " " << to;
    EXPECT_EQ(named.error().code, Code::not_found) << key;
  }
  EXPECT_EQ(attribute("[]").error().code, Code::invalid_argument);
}

TEST(ClusterReconcile, AppliesTheClusterInItsNamespaceAndDeletesNothing) {
  const json::object m = message();
  for (const json::array& observed : {json::array{}, json::array{there(m)}}) {
    const json::object plan = answered(&m, observed);
    ASSERT_EQ(plan.at("apply").as_array().size(), 2u);
    EXPECT_EQ(plan.at("apply").at(0).at("mode"), "ensure");
    EXPECT_EQ(plan.at("apply").at(0).at_pointer("/object/metadata/name"), "fleet");
    EXPECT_EQ(plan.at("apply").at(1).at("mode"), "apply");
    EXPECT_EQ(deleted(plan), "");
  }
}

TEST(ClusterReconcile, DeletesTheClusterWithItsRecordAndOnce) {
  EXPECT_EQ(deleted(answered(nullptr, {there(message())})),
            "clusters.cluster.k8s.io/v1alpha1 fleet/eu-1");
  EXPECT_EQ(deleted(answered(nullptr,
                             {there(message(), {{"deletionTimestamp", "2026-01-01T00:00:00Z"}})})),
            "");
  EXPECT_EQ(deleted(answered(nullptr, {})), "");
  EXPECT_EQ(deleted(answered(nullptr, {7, "x", json::object{{"kind", "Pod"}}})), "");
}

TEST(ClusterReconcile, DeletesWhatIsOfTheRecordUnderAnotherName) {
  const json::object m = message();
  EXPECT_EQ(deleted(answered(&m, {there(message({{"name", "eu-0"}})), there(m)})),
            "clusters.cluster.k8s.io/v1alpha1 fleet/eu-0");
}

TEST(ClusterReconcile, BlamesAMessageThatIsNoRecord) {
  const auto r = reconcile(R"({"desired":{"namespace":"fleet"},"observed":[]})", {});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().where, "name");
  EXPECT_FALSE(reconcile("garbage", {}).ok());
}

}  // namespace
}  // namespace davit::cluster_record::test
