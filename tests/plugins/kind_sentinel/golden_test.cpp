// Every file in golden/ is one case: an apply message and what is rendered of it when the cluster
// is empty.
#include "fakes/golden.hpp"
#include "message.hpp"

namespace davit::sentinel::test {
namespace {

std::vector<std::string> strings(const json::value& v) {
  return json::value_to<std::vector<std::string>>(v);
}

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
    else if (key == "config")
      site.config = text(value);
    else if (key == "liveness_path")
      site.liveness_path = text(value);
    else if (key == "readiness_path")
      site.readiness_path = text(value);
    else if (key == "no_tolerations")
      site.tolerations.clear();
    else if (key == "no_pod_annotations")
      site.pod_annotations.clear();
    else if (key == "args")
      site.args = strings(value);
    else if (key == "image_pull_secrets")
      site.image_pull_secrets = strings(value);
    else if (key == "secrets")
      site.secrets = strings(value);
    else if (key == "optional_secrets")
      site.optional_secrets = strings(value);
    else if (key == "port")
      site.port = value.as_int64();
    else if (key == "gossip_port")
      site.gossip_port = value.as_int64();
    else if (key == "metrics_port")
      site.metrics_port = value.as_int64();
    else if (key == "cpu_request_divisor")
      site.cpu_request_divisor = value.as_int64();
    else if (key == "min_ready_s")
      site.min_ready_seconds = value.as_int64();
    else if (key == "platform")
      site.platform = text(value);
    else if (key == "disruption_budget")
      site.disruption_budget = value.as_bool();
    else if (key == "gossip_policy")
      site.gossip_policy = value.as_bool();
    else
      ADD_FAILURE() << "unknown setting " << key;
  }
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
                         ::testing::ValuesIn(testing::golden_files(TEST_FOLDER "/golden")),
                         testing::golden_name);

}  // namespace
}  // namespace davit::sentinel::test
