// Every file in golden/ is one case: an apply message and what is rendered of it when the cluster
// is empty.
#include "fakes/golden.hpp"
#include "message.hpp"

namespace davit::sentinel::test {
namespace {

Site site_of(json::object settings) {
  const bool no_tolerations = settings.erase("no_tolerations") != 0;
  const bool no_annotations = settings.erase("no_pod_annotations") != 0;
  Site site = testing::site_of(settings, read_site);
  if (no_tolerations) site.placement.tolerations.clear();
  if (no_annotations) site.pod_annotations.clear();
  return site;
}

class SentinelGolden : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(SentinelGolden, RendersAsRecorded) {
  json::object root = json::parse(testing::golden_text(GetParam())).as_object();
  const json::object settings =
      root.contains("settings") ? root["settings"].as_object() : json::object{};
  root["rendered"] = planned(&root.at("apply").as_object(), {}, site_of(settings))["apply"];
  testing::expect_golden(GetParam(), root);
}

INSTANTIATE_TEST_SUITE_P(Files, SentinelGolden,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/golden")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::sentinel::test
