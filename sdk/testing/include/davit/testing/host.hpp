// TestHost: the host of an instance under test. It offers the services of abi/services.h with the
// standard library alone. It has no RPC and no codec; a test that needs one adds a service by its
// id.
//
// Like the host it refuses calls of a kind in a task of a strand, where nothing may block.
//
// Time is real or manual. With real time, tasks run on a few threads. With manual time, the test
// moves the clock, and every task runs on the test's thread inside run(), advance() and
// run_until(). Several instances of one test share clock and threads:
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
  // A host beside `beside`, with the same clock, threads and instances. `beside` must outlive it.
  TestHost(TestHost& beside, std::string instance, const Config& config = {});
  // The last of several hosts cancels timers, runs the posted tasks and waits for them.
  ~TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  const davit_host* abi() const;
  Host host() const { return Host(abi()); }
  operator Host() const { return host(); }

  // --- configuration ---
  // The rejected settings, then the keys that no code has read, each as
  // "test.toml:1: plugin.test.x: ...".
  std::vector<std::string> faults() const;

  // --- time and threads ---
  // run, advance and run_until throw std::runtime_error when a million tasks run while manual time
  // stands still: the plugin under test then makes work without end.
  void run();                                 // manual: until no task is ready
  void advance(std::chrono::nanoseconds by);  // manual: timers fire in order
  // Runs until `done` returns true or `limit` has passed. Returns whether `done` did. Manual time
  // moves from timer to timer; with real time `done` is called every millisecond.
  bool run_until(const std::function<bool()>& done,
                 std::chrono::nanoseconds limit = std::chrono::seconds(10));
  std::chrono::nanoseconds now() const;
  void seed(uint64_t seed);  // of random(); 1 at first
  // From now on, each new host that shares with no other begins with a seed of its own, made from
  // this one. The same calls then give the same numbers.
  static void seed_all(uint64_t seed);

  // --- neighbours ---
  // Makes an instance known to look-ups, with the roles that `plugin` answers. The plugin's
  // max_concurrency bounds the instance's blocking pool.
  void add_instance(const std::string& name, davit_instance* self, const davit_plugin* plugin);
  void add_role(const std::string& name, const std::string& interface_id, davit_instance* self,
                const void* vtable);
  // Offers a service (a codec, an RPC layer) or replaces one. NULL removes the service.
  void add_service(const std::string& id, const void* service);
  // davit_credentials.read returns `content` for this path, instead of a file.
  void set_credential(const std::string& path, std::string content);

  // --- the plugin's effects ---
  struct Line {
    int32_t level;
    std::string message;
    Pairs fields;
    std::string text() const;  // `warn: message key=value`
  };
  // The lines are also written to stderr when the environment has DAVIT_TEST_LOG.
  std::vector<Line> log() const;
  bool logged(std::string_view part) const;  // whether a line's text contains `part`
  // The value of a counter or gauge, or the count of a histogram. 0 when it does not exist.
  double metric(const std::string& name, const Pairs& labels = {}) const;
  int32_t health() const;
  std::string health_reason() const;
  // The reason and the deadline (a time of now()) of the latest shutdown request. An empty reason:
  // there was none.
  std::string shutdown_reason() const;
  std::chrono::nanoseconds shutdown_deadline() const;
  // The directory of this instance's state. A relative credential is a file beside it.
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
