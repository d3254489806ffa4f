// Every file in golden/ is one case: an apply message and what is rendered of it when the cluster
// is empty.
#include "fakes/golden.hpp"
#include "reconcile.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

// The settings that a case may change.
Site site_of(const json::object& settings) {
  Site site;
  auto text = [](const json::value& v) { return std::string(v.as_string().c_str()); };
  for (const auto& [key, value] : settings) {
    if (key == "managed_by")
      site.managed_by = text(value);
    else if (key == "label_prefix")
      site.label_prefix = text(value);
    else if (key == "env_prefix")
      site.env_prefix = text(value);
    else if (key == "runtime_class")
      site.runtime_class = text(value);
    else if (key == "hide_kubernetes")
      site.hide_kubernetes = value.as_bool();
    else if (key == "mount_service_account_token")
      site.mount_service_account_token = value.as_bool();
    else if (key == "inject_label")
      site.inject_label = value.as_bool();
    else if (key == "no_tolerations")
      site.tolerations.clear();
    else if (key == "image_pull_secret")
      site.image_pull_secrets = {text(value)};
    else if (key == "default_port")
      site.default_port = value.as_int64();
    else if (key == "request_divisor")
      site.request_divisor = value.as_int64();
    else if (key == "min_ready_s")
      site.min_ready_seconds = value.as_int64();
    else
      ADD_FAILURE() << "unknown setting " << key;
  }
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
                         ::testing::ValuesIn(testing::golden_files(TEST_FOLDER "/golden")),
                         testing::golden_name);

}  // namespace
}  // namespace davit::deployment::test
