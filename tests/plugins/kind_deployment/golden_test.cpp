// Every file in golden/ is one case: an apply message and what is rendered of it when the cluster
// is empty. DAVIT_UPDATE_GOLDEN=1 writes the files anew; look at the difference before it is
// committed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "json_text.hpp"
#include "reconcile.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

std::vector<std::filesystem::path> cases() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_FOLDER "/golden"))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
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
    else if (key == "hide_kubernetes")
      site.hide_kubernetes = value.as_bool();
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

// The first lines that differ, with what stands around them.
std::string difference(const std::string& wanted, const std::string& found) {
  std::istringstream a(wanted), b(found);
  std::string left, right, out;
  for (int line = 1; out.size() < 2000; ++line) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) break;
    if (!more_left) left = "(end)";
    if (!more_right) right = "(end)";
    if (left != right)
      out += "line " + std::to_string(line) + "\n- " + left + "\n+ " + right + "\n";
  }
  return out;
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, RendersAsRecorded) {
  const std::string recorded = read(GetParam());
  json::object root = json::parse(recorded).as_object();
  const json::object settings =
      root.contains("settings") ? root["settings"].as_object() : json::object{};
  const json::object input{{"desired", root.at("apply")}, {"observed", json::array{}}};
  const auto output = reconcile(json::serialize(input), site_of(settings));
  ASSERT_TRUE(output.ok()) << output.error().where << ": " << output.error().message;

  root["rendered"] = json::parse(*output).at("apply");
  const std::string rendered = pretty(root);
  if (std::getenv("DAVIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GetParam()) << rendered;
    return;
  }
  EXPECT_TRUE(recorded == rendered) << GetParam().filename() << "\n"
                                    << difference(recorded, rendered);
}

std::string name_of(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}
INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace davit::deployment::test
