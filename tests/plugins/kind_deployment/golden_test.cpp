// Every file in golden/ is one case: an apply message and what is rendered of it when the cluster
// is empty.
#include "fakes/golden.hpp"
#include "reconcile.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

Site site_of(json::object settings) {
  const bool no_tolerations = settings.erase("no_tolerations") != 0;
  if (auto* secret = settings.if_contains("image_pull_secret")) {
    settings["image_pull_secrets"] = json::array{*secret};
    settings.erase("image_pull_secret");
  }
  Site site = testing::site_of(settings, read_site);
  if (no_tolerations) site.placement.tolerations.clear();
  return site;
}

class Golden : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, RendersAsRecorded) {
  json::object root = json::parse(testing::golden_text(GetParam())).as_object();
  const json::object settings =
      root.contains("settings") ? root["settings"].as_object() : json::object{};
  const json::object input{{"desired", root.at("apply")}, {"observed", json::array{}}};
  const auto output = reconcile(json::serialize(input), site_of(settings));
  ASSERT_TRUE(output.ok()) << output.error().where << ": " << output.error().message;

  root["rendered"] = json::parse(*output).at("apply");
  testing::expect_golden(GetParam(), root);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/golden")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::deployment::test
