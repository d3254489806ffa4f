// A simulated cluster for a world of tests: the plugin cluster_memory as it is loaded, behind a
// Front that can refuse, hold and cut. The test reads and writes its objects. A test program that
// uses it defines CLUSTER_MEMORY, the path of the plugin.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <davit/testing/module.hpp>

#include "../applier/front.hpp"

namespace davit::testing {

class SimulatedCluster {
 public:
  // Makes the cluster known to look-ups as `name`. The other members call objects of `resource` in
  // the namespace "default".
  SimulatedCluster(TestHost& world, const std::string& name, cluster::Resource resource)
      : host(world, name + "_memory", {}), resource_(std::move(resource)) {
    auto loaded = Loaded::open(CLUSTER_MEMORY);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    instance = std::make_unique<Instance>(loaded->plugin(), host);
    const auto up = instance->up();
    EXPECT_TRUE(up.ok()) << up.error().message;
    client = cluster::Client(instance->ref(DAVIT_CLUSTER));
    front = std::make_unique<applier::test::Front>(client);
    world.add_role(name, DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(front.get()),
                   applier::test::Front::table());
  }

  cluster::Response send(const cluster::Request& q) {
    std::optional<cluster::Response> out;
    client.request(q, [&](cluster::Response r) { out = std::move(r); });
    host.run();
    return out.value_or(cluster::Response{});
  }
  cluster::Response call(const std::string& verb, const std::string& name,
                         const std::string& body = "", const std::string& sub = "") {
    return send({verb, resource_, "default", name, sub, {}, {}, body});
  }
  // The object; null: it is not there.
  boost::json::value get(const std::string& name) {
    const auto r = call(DAVIT_VERB_GET, name);
    return r.code == Code::ok ? boost::json::parse(r.body) : boost::json::value();
  }
  // What the object has at this JSON pointer: a string as it is, anything else as JSON.
  std::string at(const std::string& name, const std::string& pointer) {
    const boost::json::value object = get(name);
    boost::system::error_code none;
    const auto* value = object.is_null() ? nullptr : object.find_pointer(pointer, none);
    if (value == nullptr) return "";
    return value->is_string() ? std::string(value->as_string()) : boost::json::serialize(*value);
  }
  std::string uid(const std::string& name) { return at(name, "/metadata/uid"); }
  void make(const std::string& body) {
    const auto r = call(DAVIT_VERB_CREATE, "", body);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void edit(const std::string& name, const std::string& patch, const std::string& sub = "") {
    const auto r = call(DAVIT_VERB_MERGE, name, patch, sub);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void remove(const std::string& name) {
    const auto r = call(DAVIT_VERB_DELETE, name);
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  // Applies a CustomResourceDefinition.
  void define(const std::string& name, const std::string& definition) {
    const auto r = send({DAVIT_VERB_APPLY,
                         {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                         "",
                         name,
                         "",
                         {{"fieldManager", "test"}, {"force", "true"}},
                         {},
                         definition});
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  // It cannot be reached: requests get no answer, and the watches of the resource are cut.
  void leave() {
    front->policy = [](const cluster::Request&) {
      cluster::Response r;
      r.code = Code::unavailable;
      r.message = "connection refused";
      return std::optional(r);
    };
    front->stop_showing(resource_.resource, DAVIT_WATCH_TROUBLE, "connection refused");
  }
  void come_back() {
    front->policy = nullptr;
    front->show(resource_.resource);
  }

  TestHost host;
  std::unique_ptr<Instance> instance;
  cluster::Client client;
  std::unique_ptr<applier::test::Front> front;

 private:
  const cluster::Resource resource_;
};

}  // namespace davit::testing
