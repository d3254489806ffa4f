// A world for federation: the plugin as it is loaded, between two simulated clusters, on a clock
// that stands still until it is moved. The test is everybody else: it writes and reads in both
// clusters, cuts watches and refuses requests.
#pragma once

#include <boost/json.hpp>
#include <thread>

#include <gtest/gtest.h>
#include <davit/testing/module.hpp>

#include "../applier/front.hpp"

namespace davit::federation::test {

namespace json = boost::json;
using namespace std::chrono_literals;
using applier::test::Front;
using applier::test::refusal;

// One of the two clusters.
struct Cluster {
  Cluster(testing::TestHost& world, const std::string& name) : host(world, name + "_memory", {}) {
    auto loaded = testing::Loaded::open(CLUSTER_MEMORY);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    instance = std::make_unique<testing::Instance>(loaded->plugin(), host);
    const auto up = instance->up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    client = cluster::Client(instance->ref(DAVIT_CLUSTER));
    front = std::make_unique<Front>(client);
    world.add_role(name, DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(front.get()),
                   Front::table());
  }

  cluster::Response call(const std::string& verb, const std::string& name,
                         const std::string& body = "", const std::string& sub = "") {
    return send({verb, {"g", "v1", "robots"}, "default", name, sub, {}, {}, body});
  }
  cluster::Response send(const cluster::Request& q) {
    std::optional<cluster::Response> out;
    client.request(q, [&](cluster::Response r) { out = std::move(r); });
    host.run();
    return out.value_or(cluster::Response{});
  }
  // The object; null: it is not there.
  json::value get(const std::string& name) {
    const auto r = call(DAVIT_VERB_GET, name);
    return r.code == Code::ok ? json::parse(r.body) : json::value();
  }
  std::string at(const std::string& name, const std::string& pointer) {
    const json::value object = get(name);
    boost::system::error_code none;
    const json::value* value = object.is_null() ? nullptr : object.find_pointer(pointer, none);
    if (value == nullptr) return "";
    return value->is_string() ? std::string(value->as_string()) : json::serialize(*value);
  }
  std::string spec(const std::string& name) { return at(name, "/spec/x"); }
  std::string status(const std::string& name) { return at(name, "/status/s"); }
  std::string uid(const std::string& name) { return at(name, "/metadata/uid"); }

  // `metadata` is JSON without braces, such as "finalizers":["a/b"].
  void make(const std::string& name, int x, const std::string& metadata = "") {
    const auto r = call(DAVIT_VERB_CREATE, "",
                        R"({"apiVersion":"g/v1","kind":"Robot","metadata":{"name":")" + name +
                            "\"" + (metadata.empty() ? "" : "," + metadata) + R"(},"spec":{"x":)" +
                            std::to_string(x) + "}}");
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void edit(const std::string& name, const std::string& patch, const std::string& sub = "") {
    const auto r = call(DAVIT_VERB_MERGE, name, patch, sub);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void set(const std::string& name, int x) {
    edit(name, R"({"spec":{"x":)" + std::to_string(x) + "}}");
  }
  void report(const std::string& name, const std::string& s) {
    edit(name, R"({"status":{"s":")" + s + R"("}})", "status");
  }
  void remove(const std::string& name) {
    const auto r = call(DAVIT_VERB_DELETE, name);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  // Writes the definition of robots. `annotations` and `more` (of the version) are JSON without
  // braces.
  void define(const std::string& annotations, bool status = true, const std::string& more = "") {
    const std::string body =
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
        R"("metadata":{"name":"robots.g","annotations":{)" +
        annotations +
        R"(}},"spec":{"group":"g","scope":"Namespaced","names":{"plural":"robots",)"
        R"("kind":"Robot"},"versions":[{"name":"v1","storage":true)" +
        (status ? R"(,"subresources":{"status":{}})" : "") + (more.empty() ? "" : "," + more) +
        "}]}}";
    cluster::Request q{DAVIT_VERB_APPLY,
                       {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                       "",
                       "robots.g",
                       "",
                       {{"fieldManager", "test"}, {"force", "true"}},
                       {},
                       body};
    const auto r = send(q);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  // It cannot be reached: requests get no answer, and its watches of robots are cut.
  void leave() {
    front->policy = [](const cluster::Request&) {
      cluster::Response r;
      r.code = Code::unavailable;
      r.message = "connection refused";
      return std::optional(r);
    };
    front->stop_showing("robots", DAVIT_WATCH_TROUBLE, "connection refused");
  }
  void come_back() {
    front->policy = nullptr;
    front->show("robots");
  }
  size_t writes() {
    size_t sum = 0;
    for (const auto& [what, count] : front->sent)
      if (!what.starts_with("get ")) sum += count;
    return sum;
  }

  testing::TestHost host;
  std::unique_ptr<testing::Instance> instance;
  cluster::Client client;
  std::unique_ptr<Front> front;
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
  void start() {
    auto loaded = testing::Loaded::open(FEDERATION);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    plugin_ = std::make_unique<testing::Instance>(loaded->plugin(), host_);
    const auto up = plugin_->up();
    ASSERT_TRUE(up.ok()) << up.error().message;
    host_.run();
  }
  void stop() {
    pumped([this] {
      const auto stopped = plugin_->stop();
      EXPECT_TRUE(stopped.ok()) << stopped.error().message;
    });
    plugin_->destroy();
  }
  testing::TestHost& host() { return host_; }

 private:
  void pumped(const std::function<void()>& blocking) {
    std::atomic<bool> done{false};
    std::thread thread([&] {
      blocking();
      done = true;
    });
    while (!done) {
      cloud.front->let_go();
      robot.front->let_go();
      host_.run();
    }
    thread.join();
  }

  testing::TestHost host_;
  std::unique_ptr<testing::Instance> plugin_;

 public:
  Cluster cloud, robot;
};

}  // namespace davit::federation::test
