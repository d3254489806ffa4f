// davit-conformance [--config FILE] [gtest flags] plugin.so
//
// Runs the suites of every role that the plugin's note names. FILE has the instance's configuration
// in lines of `key = value`. $TMP in a value becomes a fresh directory for each test.
#include <fstream>
#include <iostream>
#include <map>
#include <string_view>

#include "suite.hpp"

namespace davit::conformance {
namespace {

std::optional<Subject> the_subject;

std::map<std::string, Program>& children() {
  static std::map<std::string, Program> map;
  return map;
}

// "change_sink/1" -> "ChangeSink"
std::string camel(std::string_view role) {
  role = role.substr(0, role.find('/'));
  std::string out;
  bool upper = true;
  for (const char c : role) {
    if (c == '_') {
      upper = true;
    } else {
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return out;
}

bool wanted(std::string_view suite, const std::vector<std::string>& roles) {
  if (suite.starts_with("Plugin")) return true;
  for (const auto& role : roles) {
    if (suite.starts_with(camel(role))) return true;
  }
  return false;
}

// gtest cannot intersect filters, so this excludes the suites of other roles by name.
void filter(const std::vector<std::string>& roles) {
  std::string excluded;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const std::string name = unit.GetTestSuite(i)->name();
    if (!wanted(name, roles)) excluded += ":" + name + ".*";
  }
  if (excluded.empty()) return;
  std::string f = GTEST_FLAG_GET(filter);
  f += f.find('-') == std::string::npos ? "-" + excluded.substr(1) : excluded;
  GTEST_FLAG_SET(filter, f);
}

constexpr const char* synopsis =
    "usage: davit-conformance [--config FILE] [gtest flags] plugin.so\n";

int help() {
  std::cout << synopsis << R"(
Runs the suites of every role that the plugin's note names; exit code 0 when all hold.

  --config FILE  the instance's settings, one `key = value` a line; $TMP in a value is a folder that
                 each test gets anew. Keys that begin with `conformance.` are for the suites
  plugin.so      what davit_add_plugin() has built

Of gtest's flags: --gtest_filter=Storage.S7_*, --gtest_list_tests, --gtest_repeat=N.
)";
  return 0;
}

int usage(const std::string& fault) {
  std::cerr << "davit-conformance: " << fault << "\n" << synopsis;
  return 2;
}

// Fills in the_subject. Returns what is wrong, or nothing.
std::optional<std::string> load(const std::string& path, const std::string& config_file) {
  Config config, options;
  if (!config_file.empty()) {
    std::ifstream in(config_file);
    if (!in) return "cannot read " + config_file;
    auto parsed = Config::parse(std::string(std::istreambuf_iterator<char>(in), {}));
    if (!parsed.ok()) return config_file + ": " + parsed.error().message;
    for (auto entry : parsed->entries()) {
      const std::string prefix = "conformance.";
      if (entry.key.starts_with(prefix)) {
        entry.key.erase(0, prefix.size());
        options.set(entry);
      } else {
        config.set(entry);
      }
    }
  }
  auto plugin = testing::Loaded::open(path);
  if (!plugin.ok()) return plugin.error().message;
  the_subject.emplace(
      Subject{std::move(*plugin), std::move(config), config_file, std::move(options)});
  return std::nullopt;
}

int run(std::vector<std::string> arguments) {
  std::string config, child, path;
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--config" && i + 1 < arguments.size()) {
      config = arguments[++i];
    } else if (arguments[i] == "--child" && i + 1 < arguments.size()) {
      child = arguments[++i];
    } else {
      rest.push_back(arguments[i]);
    }
  }
  if (rest.empty()) return usage("no plugin is named");
  path = rest.back();
  rest.pop_back();
  if (path.starts_with("--")) return usage("unknown flag " + path);
  if (auto fault = load(path, config)) return usage(*fault);
  if (!child.empty()) {
    const auto at = children().find(child);
    return at == children().end() ? usage("unknown child " + child) : at->second(rest);
  }
  if (!rest.empty()) return usage("unexpected argument " + rest.front());
  filter(the_subject->plugin.note().roles);
  return RUN_ALL_TESTS();
}

}  // namespace

const Subject& subject() {
  return *the_subject;
}

Config config_in(const std::string& directory) {
  return subject().config.with("$TMP", directory);
}

ChildProgram::ChildProgram(std::string name, Program main) {
  children().emplace(std::move(name), main);
}

Fresh::Fresh(const Config& extra, TestHost::Time time)
    : directory_(std::make_shared<testing::TemporaryDirectory>()),
      config_(config_in(directory_->path())) {
  for (const auto& entry : extra.entries()) config_.set(entry);
  bring_up(time);
}

Fresh::Fresh(const Fresh& before, TestHost::Time time)
    : directory_(before.directory_), config_(before.config_) {
  bring_up(time);
}

void Fresh::bring_up(TestHost::Time time) {
  host_ = std::make_unique<TestHost>("subject", config_, time);
  neighbours_ = std::make_unique<Neighbours>(*host_, subject().options, directory());
  up_ = neighbours_->up();
  instance_ = std::make_unique<Instance>(subject().plugin.plugin(), *host_);
  if (up_.ok()) up_ = instance_->up();
}

}  // namespace davit::conformance

int main(int argc, char** argv) {
  // Before gtest, which would print its own help.
  if (argc == 2 && (argv[1] == std::string_view("--help") || argv[1] == std::string_view("-h")))
    return davit::conformance::help();
  ::testing::InitGoogleTest(&argc, argv);
  return davit::conformance::run(std::vector<std::string>(argv + 1, argv + argc));
}
