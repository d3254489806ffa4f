// Secrets: with their values in the record, and with values that the applier resolves.
#include "message.hpp"

namespace davit::manifest::test {
namespace {

Site site() {
  Site out = site_with({"v1/Secret"});
  out.keyrings = {"env_1", ""};
  return out;
}
json::object secret(json::object more) {
  return message({object("v1", "Secret", "s", std::move(more))});
}
json::object with_source(json::value source) {
  return secret({{"secrets", json::array{std::move(source)}}});
}

TEST(ManifestSecret, HasAllItsValuesInBase64) {
  const json::object m = secret({{"data", {{"A", "b2xk"}, {"B", "Yg=="}}},
                                 {"stringData", {{"A", "new"}}},
                                 {"type", "Opaque"}});
  const json::value rendered = landed(answered(&m, {}, site())).at(0);
  EXPECT_EQ(rendered.at("data"), (json::object{{"A", "bmV3"}, {"B", "Yg=="}}));
  EXPECT_FALSE(rendered.as_object().contains("stringData"));
}

TEST(ManifestSecret, NamesWhatItsValuesComeFrom) {
  const json::object m =
      secret({{"secrets",
               json::array{{{"key", "A"}, {"decrypt", {{"keyring", "env_1"}, {"ciphertext", "c"}}}},
                           {{"key", "B"}, {"read", {{"ref", "db/web"}, {"field", "password"}}}}}}});
  ASSERT_EQ(fault_of(m, site()), "");
  const json::object answer = answered(&m, {}, site());
  const json::value& step = answer.at("apply").at(1);
  EXPECT_EQ(step.at("secrets"), m.at("objects").at(0).at("secrets"));
  EXPECT_FALSE(step.at("object").as_object().contains("secrets"));
}

// A Secret is seen as metadata, and as the names of those values that are as they were applied.
TEST(ManifestSecret, IsOutdatedWhileSomebodyHasChangedAValue) {
  const json::object m = secret({{"data", {{"A", "YQ=="}, {"B", "Yg=="}}}});
  json::array there = landed(answered(&m, {}, site()));
  json::object& seen = there.at(0).as_object();
  seen.erase("data");
  seen["values"] = {{"A", true}, {"B", true}};
  EXPECT_EQ(answered(&m, there, site()).at("status").at("health"), "healthy");
  seen["values"] = json::object{{"A", true}};
  EXPECT_EQ(answered(&m, there, site()).at("status").at("message"),
            "Secret/s: is not yet as the record has it");
}

TEST(ManifestSecret, IsRefusedWhereItCannotWork) {
  const json::object decrypt{{"keyring", "env_1"}, {"ciphertext", "c"}};
  const std::pair<json::object, const char*> rows[] = {
      {secret({{"data", 1}}), "data: Secret s: must be an object"},
      {secret({{"data", {{"A", "not base64!"}}}}),
       "data[\"A\"]: Secret s: must be base64; plain text belongs into stringData"},
      {secret({{"stringData", {{"A", 1}}}}), "stringData[\"A\"]: Secret s: must be a text"},
      {secret({{"stringData", {{"A B", "x"}}}}),
       "stringData[\"A B\"]: Secret s: is no key that a Secret can have"},
      {secret({{"secrets", json::array()}}),
       "secrets: Secret s: must be a list of at least one value"},
      {secret({{"secrets", json::array{{{"key", "A"}, {"decrypt", decrypt}}}},
               {"data", json::object()}}),
       "data: Secret s: cannot stand beside secrets: use one of them"},
      {with_source(1), "secrets[0]: Secret s: must be an object"},
      {with_source({{"key", "A"}}),
       "secrets[0].decrypt: Secret s: exactly one of decrypt and read is needed"},
      {with_source({{"key", "A"}, {"decrypt", {{"keyring", "env_1"}}}}),
       "secrets[0].decrypt.ciphertext: Secret s: is missing"},
      {with_source({{"key", "A"}, {"read", {{"keyring", "env_1"}}}}),
       "secrets[0].read.ref: Secret s: is missing"},
      {with_source({{"key", "A"}, {"read", {{"ref", "r"}, {"path", "p"}}}}),
       "secrets[0].read.path: Secret s: is not known here (known: keyring, ref, field, version)"},
      {with_source({{"key", "A"}, {"decrypt", {{"keyring", "env_2"}, {"ciphertext", "c"}}}}),
       "secrets[0].decrypt.keyring: Secret s: \"env_2\" is not among the `keyrings` that manifests "
       "may use here"},
      {secret({{"secrets", json::array{{{"key", "A"}, {"decrypt", decrypt}},
                                       {{"key", "A"}, {"decrypt", decrypt}}}}}),
       "secrets[1].key: Secret s: is there twice"},
  };
  for (const auto& [m, fault] : rows)
    EXPECT_EQ(fault_of(m, site()), "objects[0]." + std::string(fault));
}

TEST(ManifestSecret, MayNameNoKeyringUnlessTheSiteSaysSo) {
  EXPECT_EQ(fault_of(with_source({{"key", "A"}, {"read", {{"ref", "r"}}}}), site()), "");
  EXPECT_EQ(
      fault_of(with_source({{"key", "A"}, {"read", {{"ref", "r"}}}}), site_with({"v1/Secret"})),
      "objects[0].secrets[0].read.keyring: Secret s: \"\" is not among the `keyrings` that "
      "manifests may use here");
}

}  // namespace
}  // namespace davit::manifest::test
