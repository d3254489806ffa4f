// What the suites of davit-conformance share: the plugin under test and fresh instances of it.
//
// A suite is one file for one role, listed in CMakeLists.txt. Its tests belong to the role by the
// name of their test suite, which begins with the role's in CamelCase: role "change_sink",
// TEST(ChangeSink, ...) or TEST(ChangeSinkOrder, ...). Only the suites of the roles in the plugin's
// note run.
#pragma once

#include <gtest/gtest.h>

#include "davit/testing/module.hpp"

namespace davit::conformance {

using testing::Config;
using testing::Instance;
using testing::TestHost;

struct Subject {
  testing::Loaded plugin;
  Config config;            // as in --config; $TMP not yet replaced
  std::string config_file;  // empty = none
  // From keys `conformance.x` in the file, which the instance does not get to see.
  Config options;
};
// The plugin named on the command line.
const Subject& subject();

// Config of the subject with $TMP replaced by the directory.
Config config_in(const std::string& directory);

// An instance of the plugin under test, up, in its own host and with its own temporary directory.
class Fresh {
 public:
  // `extra` is added to the subject's configuration, or replaces keys of it.
  explicit Fresh(const Config& extra = {}, TestHost::Time time = TestHost::Time::real);
  // Another life of the same configuration and directory (which the other must have left: stop it
  // first).
  Fresh(const Fresh& before, TestHost::Time time);

  TestHost& host() { return *host_; }
  Instance& instance() { return *instance_; }
  // The result of create, wire, start. Tests begin with ASSERT_TRUE(fresh.up().ok()) << message.
  const Result<>& up() const { return up_; }
  void stop() { instance_.reset(); }
  const std::string& directory() const { return directory_->path(); }
  const Config& config() const { return config_; }

 private:
  void bring_up(TestHost::Time time);
  std::shared_ptr<testing::TemporaryDirectory> directory_;
  Config config_;
  std::unique_ptr<TestHost> host_;
  std::unique_ptr<Instance> instance_;
  Result<> up_;
};

// For ASSERT_TRUE(...) << why(r).
template <class T>
std::string why(const Result<T>& r) {
  if (r.ok()) return "ok";
  return "code " + std::to_string(static_cast<int>(r.error().code)) + ": " + r.error().message;
}

// A second program in this tool: `davit-conformance --child NAME ARG... plugin.so`, for suites that
// kill it.
using Program = int (*)(const std::vector<std::string>& arguments);
struct ChildProgram {
  ChildProgram(std::string name, Program main);
};

}  // namespace davit::conformance
