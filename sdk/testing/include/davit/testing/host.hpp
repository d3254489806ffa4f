// A host for tests: everything a plugin asks for, with the standard library alone. No RPC and no
// codec; a test that needs one adds a service by its id.
//
// Time is real (tasks run on a few threads) or manual: then it stands still, and everything runs on
// the test's thread inside run(), advance() and run_until(). Several instances of one test share
// clock and threads:
//
//   TestHost host("main", {{"path", ":memory:"}}, TestHost::Time::manual);
//   TestHost second(host, "streamer", {{"storage", "main"}});
#pragma once

#include <davit/host.hpp>
#include "config.hpp"
#include "temporary.hpp"

namespace davit::testing {

class Runtime;
class ConfigTree;

class TestHost {
 public:
  enum class Time { real, manual };

  explicit TestHost(std::string instance = "test", const Config& config = {},
                    Time time = Time::real);
  // Beside another: same clock, threads and instances; it must outlive this one.
  TestHost(TestHost& beside, std::string instance, const Config& config = {});
  // Cancels timers, runs what was posted and waits for it.
  ~TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  const davit_host* abi() const;
  Host host() const { return Host(abi()); }
  operator Host() const { return host(); }

  // --- configuration: what was rejected, and the keys nobody read, each as
  // "test.toml:1: plugin.test.x: ..."
  std::vector<std::string> faults() const;

  // --- time and threads. Manual time that stands still while a million tasks run is a fault of
  // what is tested: these three then throw std::runtime_error.
  void run();                                 // manual: until nothing is ready
  void advance(std::chrono::nanoseconds by);  // manual: timers fire in order
  // Until `done` or `limit` has passed (manual: from timer to timer; real: looks every
  // millisecond).
  bool run_until(const std::function<bool()>& done,
                 std::chrono::nanoseconds limit = std::chrono::seconds(10));
  std::chrono::nanoseconds now() const;
  void seed(uint64_t seed);  // of random(); 1 at first

  // --- neighbours
  // Makes an instance known to look-ups. `find` answers its roles, `max_concurrency` bounds its
  // blocking pool.
  void add_instance(const std::string& name, davit_instance* self, const davit_plugin* plugin);
  void add_role(const std::string& name, const std::string& interface_id, davit_instance* self,
                const void* vtable);
  // Offers a service (a codec, an RPC layer) or replaces one. NULL takes it away.
  void add_service(const std::string& id, const void* service);
  // What credentials.read gives for this path, instead of a file.
  void set_credential(const std::string& path, std::string content);

  // --- what the plugin did
  struct Line {
    int32_t level;
    std::string message;
    Pairs fields;
    std::string text() const;  // `warn: message key=value`
  };
  // Also written to stderr when the environment has DAVIT_TEST_LOG.
  std::vector<Line> log() const;
  bool logged(std::string_view part) const;  // of a line's text
  // Value of a counter or gauge; of a histogram its count. 0 when it does not exist.
  double metric(const std::string& name, const Pairs& labels = {}) const;
  int32_t health() const;
  std::string health_reason() const;
  // What it asked the host to end for, and until when (of now()); empty: it did not.
  std::string shutdown_reason() const;
  std::chrono::nanoseconds shutdown_deadline() const;
  // The directory of this instance's state; relative credentials are looked for beside it.
  std::string state_directory() const;

 private:
  friend struct Services;
  struct Abi;
  struct Shared;
  struct Own;
  TestHost(std::shared_ptr<Shared> shared, std::string instance, const Config& config);
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Own> own_;
};

}  // namespace davit::testing
