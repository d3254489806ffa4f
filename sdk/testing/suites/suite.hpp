// What the suites of davit-conformance share: the plugin under test and fresh instances of it.
//
// A suite is the files <role>*.cpp, listed in CMakeLists.txt. A test belongs to the role whose name
// in CamelCase begins the name of its test suite: for the role "change_sink" TEST(ChangeSink, ...)
// or TEST(ChangeSinkOrder, ...). Only the suites of the roles in the plugin's note run, and the
// suite Plugin.
#pragma once

#include <gtest/gtest.h>

#include "neighbours.hpp"

namespace davit::conformance {

using testing::Config;
using testing::Instance;
using testing::TestHost;

// The plugin under test, and what the command line says about it.
struct Subject {
  testing::Loaded plugin;
  Config config;            // as in --config, with $TMP not replaced yet
  std::string config_file;  // empty = none
  // The keys `conformance.x` of the file, without the prefix. The instance does not get them.
  Config options;
};
// The plugin that the command line names.
const Subject& subject();

// True when nothing outlives an instance (`conformance.in_memory = "instance"`).
bool is_volatile();

// How long a test waits for what must come (`conformance.patience_s`, 30 by default).
inline std::chrono::seconds patience() {
  return std::chrono::seconds(subject().options.integer("patience_s", 30));
}

// The subject's configuration with $TMP replaced by the directory.
Config config_in(const std::string& directory);

// An instance of the plugin under test that has been started, with its own host, its own
// neighbours and its own temporary directory.
class Fresh {
 public:
  // `extra` is added to the subject's configuration, or replaces keys of it.
  explicit Fresh(const Config& extra = {}, TestHost::Time time = TestHost::Time::real);
  // A new instance with the configuration and the directory of another. If the other one has not
  // been stopped, this is a second one beside it.
  Fresh(const Fresh& before, TestHost::Time time);
  ~Fresh();

  TestHost& host() { return *host_; }
  Instance& instance() { return *instance_; }
  // The result of create, wire and start. A test begins with
  // ASSERT_TRUE(fresh.up().ok()) << why(fresh.up()).
  const Result<>& up() const { return up_; }
  // From a start that succeeded to the stop.
  bool is_running() const { return instance_ != nullptr && instance_->started(); }
  // Stops and destroys the instance and then its neighbours; the destructor does it, too. A stop
  // that fails fails the test.
  void stop();
  const std::string& directory() const { return directory_->path(); }
  const Config& config() const { return config_; }

 private:
  void bring_up(TestHost::Time time);
  std::shared_ptr<testing::TemporaryDirectory> directory_;
  Config config_;
  std::unique_ptr<TestHost> host_;
  std::unique_ptr<Neighbours> neighbours_;
  std::unique_ptr<Instance> instance_;
  Result<> up_;
};

// For ASSERT_TRUE(...) << why(r).
template <class T>
std::string why(const Result<T>& r) {
  if (r.ok()) return "ok";
  return "code " + std::to_string(static_cast<int>(r.error().code)) + ": " + r.error().message;
}

// A number for a test's own random numbers. It differs at each call and in each run of the tool,
// and the run's --seed repeats it.
uint64_t random_seed();

// A second program in this tool, `davit-conformance --child NAME ARG... plugin.so`, for suites that
// kill the process that the plugin runs in.
using Program = int (*)(const std::vector<std::string>& arguments);
struct ChildProgram {
  ChildProgram(std::string name, Program main);
};

}  // namespace davit::conformance
