// Every file in golden/ is one case: a message, settings, and what is planned for it when the
// cluster is empty.
#include "fakes/golden.hpp"
#include "message.hpp"

namespace davit::cluster_record::test {
namespace {

class ClusterGolden : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ClusterGolden, RendersAsRecorded) {
  json::object root = json::parse(testing::golden_text(GetParam())).as_object();
  const json::object settings =
      root.contains("settings") ? root["settings"].as_object() : json::object{};
  const Site site = testing::site_of(settings, read_site);
  const json::object& apply = root.at("apply").as_object();
  ASSERT_EQ(fault_of(apply, site), "");
  const json::object plan = answered(&apply, {}, site);
  root["rendered"] = plan.at("apply");
  root["status"] = plan.at("status");
  testing::expect_golden(GetParam(), root);
}

INSTANTIATE_TEST_SUITE_P(Files, ClusterGolden,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/golden")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::cluster_record::test
