// A world for federation: the plugin as it is loaded, between two simulated clusters, on a clock
// that stands still until it is moved. The test is everybody else: it writes and reads in both
// clusters, cuts watches and refuses requests.
#pragma once

#include <boost/json.hpp>

#include <gtest/gtest.h>
#include <davit/offer.hpp>

#include "../fakes/simulated_cluster.hpp"
#include "../fakes/stop_running.hpp"

namespace davit::federation::test {

namespace json = boost::json;
using namespace std::chrono_literals;
using applier::test::Front;
using applier::test::refusal;

// One of the two clusters.
struct Cluster : testing::SimulatedCluster {
  Cluster(testing::TestHost& world, const std::string& name)
      : SimulatedCluster(world, name, {"g", "v1", "robots"}) {}

  std::string spec(const std::string& name) { return at(name, "/spec/x"); }
  std::string status(const std::string& name) { return at(name, "/status/s"); }

  // `metadata` is JSON without braces, such as "finalizers":["a/b"].
  void make(const std::string& name, int x, const std::string& metadata = "") {
    SimulatedCluster::make(R"({"apiVersion":"g/v1","kind":"Robot","metadata":{"name":")" + name +
                           "\"" + (metadata.empty() ? "" : "," + metadata) + R"(},"spec":{"x":)" +
                           std::to_string(x) + "}}");
  }
  void set(const std::string& name, int x) {
    edit(name, R"({"spec":{"x":)" + std::to_string(x) + "}}");
  }
  void report(const std::string& name, const std::string& s) {
    edit(name, R"({"status":{"s":")" + s + R"("}})", "status");
  }
  // Writes the definition of robots. `annotations` and `more` (of the version) are JSON without
  // braces.
  void define(const std::string& annotations, bool status = true, const std::string& more = "") {
    SimulatedCluster::define(
        "robots.g", R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                    R"("metadata":{"name":"robots.g","annotations":{)" +
                        annotations +
                        R"(}},"spec":{"group":"g","scope":"Namespaced","names":{"plural":"robots",)"
                        R"("kind":"Robot"},"versions":[{"name":"v1","served":true,"storage":true)" +
                        (status ? R"(,"subresources":{"status":{}})" : "") +
                        (more.empty() ? "" : "," + more) + "}]}}");
  }
  // Of objects; a claim of the name is none.
  size_t writes() {
    size_t sum = 0;
    for (const auto& [what, count] : front->sent)
      if (!what.starts_with("get ") && !what.ends_with(" leases")) sum += count;
    return sum;
  }
};

inline const std::string of_cloud = R"("cr-syncer.cloudrobotics.com/spec-source":"cloud")";
inline const std::string filtered =
    of_cloud + R"(,"cr-syncer.cloudrobotics.com/filter-by-robot-name":"True")";
inline const std::string for_r1 = R"("labels":{"cloudrobotics.com/robot-name":"r1"})";

class World {
 public:
  explicit World(const std::string& annotations = of_cloud, bool status = true,
                 const testing::Config& config = {})
      : host_(
            "federation",
            [&] {
              testing::Config c = config;
              c.set({"upstream", "cloud"});
              c.set({"downstream", "robot"});
              c.set({"robot_name", "r1"});
              return c;
            }(),
            testing::TestHost::Time::manual),
        cloud(host_, "cloud"),
        robot(host_, "robot") {
    cloud.define(annotations, status);
    if (!annotations.empty()) robot.define(annotations, status);
    start();
  }
  ~World() {
    stop();
    pumped([this] {
      EXPECT_TRUE(cloud.instance->stop().ok());
      EXPECT_TRUE(robot.instance->stop().ok());
    });
  }

  void wait(std::chrono::nanoseconds time = 10s) { host_.advance(time); }
  void start(bool rehearse = false) {
    auto loaded = testing::Loaded::open(FEDERATION);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    plugin_ = std::make_unique<testing::Instance>(loaded->plugin(), host_);
    auto up = plugin_->create();
    if (up.ok()) up = plugin_->wire();
    if (up.ok() && rehearse) {
      up = checked([&](davit_error* e) { return rehearsal().hold(plugin_->get(), e); });
    }
    if (up.ok()) up = plugin_->start();
    ASSERT_TRUE(up.ok()) << up.error().message;
    host_.run();
  }
  // What a rehearsal (start(true)) says: an encoded FederationReview.
  std::string review() {
    const Operation operation;
    StringSink text;
    pumped([&] {
      const auto done = checked(
          [&](davit_error* e) {
            return rehearsal().answer(plugin_->get(), operation.abi(), text.get(), e);
          },
          text);
      EXPECT_TRUE(done.ok()) << done.error().message;
    });
    return text.take();
  }
  void stop() {
    if (plugin_ == nullptr) return;
    pumped([this] {
      const auto stopped = plugin_->stop();
      EXPECT_TRUE(stopped.ok()) << stopped.error().message;
    });
    plugin_.reset();
  }
  testing::TestHost& host() { return host_; }

 private:
  const Offer& rehearsal() const { return *plugin_->role<Offer>(RehearsalRole::id); }
  void pumped(const std::function<void()>& blocking) {
    testing::run_beside(host_, blocking, [this] {
      cloud.front->let_go();
      robot.front->let_go();
    });
  }

  testing::TestHost host_;
  std::unique_ptr<testing::Instance> plugin_;

 public:
  Cluster cloud, robot;
};

}  // namespace davit::federation::test
