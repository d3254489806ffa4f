#include "message.hpp"

namespace davit::cluster_record::test {
namespace {

TEST(ClusterRecord, IsNamedByItsNamespaceAndNameUnlessItHasAnId) {
  EXPECT_EQ(identify(json::serialize(message())).value(), (Named{"fleet.eu-1", "fleet", "eu-1"}));
  EXPECT_EQ(identify(json::serialize(message({{"id", "c_1"}}))).value(),
            (Named{"c_1", "fleet", "eu-1"}));
  EXPECT_EQ(identify(R"({"namespace":"fleet"})").error().where, "name");
  EXPECT_FALSE(identify("[]").ok());
}

TEST(ClusterRecord, IsCheckedBeforeTheApiServerSeesIt) {
  const std::string long_name(64, 'x');
  const std::pair<json::object, std::string> rows[] = {
      {message(), ""},
      {message({{"namespace", "a.b"}}),
       "namespace: must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not "
       "\"a.b\""},
      {message({{"name", "UP"}}),
       "name: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), not "
       "\"UP\""},
      {message({{"name", long_name}}),
       "name: must have at most 63 characters: what belongs to the cluster has it as a label"},
      {message({{"labels", {{"team", "edge"}, {"example.com/tier", ""}}}}), ""},
      {message({{"labels", {{"a b", "x"}}}}),
       "labels: must be of keys such as \"team\" or \"example.com/team\", not \"a b\""},
      {message({{"labels", {{"team", "a b"}}}}),
       "labels[\"team\"]: must be usable as a label (at most 63 letters, digits, \"-\", \"_\" and "
       "\".\", with a letter or digit at both ends), not \"a b\""},
      {message({{"labels", {{"davit.dev/region", "x"}}}}),
       "labels[\"davit.dev/region\"]: is Davit's own: take it out"},
      {message({{"labels", {{"team", 7}}}}), "labels[\"team\"]: must be a text"},
      {message({{"labels", "team"}}), "labels: must be an object, not a string"},
      {message({{"annotations", {{"example.com/why", "any text"}}}}), ""},
      {message({{"annotations", {{"davit.dev/id", "x"}}}}),
       "annotations[\"davit.dev/id\"]: is Davit's own: take it out"},
      {message({{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}),
       "annotations: cluster.x-k8s.io/paused: write `paused: true` in its place"},
      {message({{"network", 7}}), "network: must be an object, not a number"},
      {message({{"network", {{"services", json::array{"10.0.0.0/8", "10.0.0.0"}}}}}),
       "network.services[1]: must be a range of addresses, such as \"10.96.0.0/12\", not "
       "\"10.0.0.0\""},
      {message({{"network", {{"pods", json::array{"all"}}}}}),
       "network.pods[0]: must be a range of addresses, such as \"10.96.0.0/12\", not \"all\""},
      {message({{"network", {{"service_domain", "a_b"}}}}),
       "network.service_domain: must be a DNS name (at most 253 lower-case letters, digits, \"-\" "
       "and \".\"), not \"a_b\""},
      {message({{"paused", "yes"}}), "paused: must be true or false, not a string"},
  };
  for (const auto& [m, fault] : rows) EXPECT_EQ(fault_of(m), fault) << m;
  EXPECT_EQ(fault_of("[]"), ": the cluster is not a JSON object");
  EXPECT_EQ(fault_of("{"), ": the cluster is not JSON: incomplete JSON");
}

TEST(ClusterRecord, HasTheActuatorsConfigurationAsAnObjectInOnePlace) {
  const json::object reference{{"machine_class", {{"name", "large"}}}};
  const std::pair<json::object, std::string> rows[] = {
      {{{"provider_spec", json::object{}}}, ""},
      {{{"provider_spec", {{"apiVersion", 7}, {"any", json::array{nullptr}}}}}, ""},
      {{{"provider_spec", json::array{}}}, "provider_spec: must be an object, not a list"},
      {{{"provider_spec", "text"}}, "provider_spec: must be an object, not a string"},
      {{{"provider_spec", {{"a", std::string((1 << 20) - 8, 'x')}}}}, ""},
      {{{"provider_spec", {{"a", std::string((1 << 20) - 7, 'x')}}}},
       "provider_spec: must have at most 1 MiB: no cluster stores a larger object"},
      // As the codec shows bytes that are no JSON.
      {{{"provider_spec", {{"$base64", "eA=="}}}}, "provider_spec: must be an object of JSON"},
      {{{"machine_class", {{"name", "large"}}}}, ""},
      {{{"machine_class", {{"provider", "aws"}}}}, "machine_class.name: is missing"},
      {{{"machine_class", {{"name", "large"}}}, {"provider_spec", json::object{}}},
       "machine_class: stands in place of provider_spec: take one of them out"},
  };
  for (const auto& [more, fault] : rows) EXPECT_EQ(fault_of(message(more)), fault);
}

TEST(ClusterRecord, HasNoNumberAndNoDepthThatWouldNotArrive) {
  const auto nested = [](int levels) {
    json::value v = 1;
    for (int i = 0; i < levels; ++i) v = json::object{{"a", std::move(v)}};
    return message({{"provider_spec", std::move(v)}});
  };
  EXPECT_EQ(fault_of(nested(21)), "");
  EXPECT_EQ(fault_of(nested(22)), "provider_spec: is nested deeper than 21 levels");
  const std::string begin = R"({"namespace":"fleet","name":"eu-1","provider_spec":{"n":)";
  EXPECT_EQ(fault_of(begin + "18446744073709551615}}"), "");
  EXPECT_EQ(fault_of(begin + "1e400}}"),
            "provider_spec: has the number 1e400, which no double has exactly so: write it "
            "shorter, or as a text");
}

}  // namespace
}  // namespace davit::cluster_record::test
