// A simulated cluster whose clock the test owns.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "api.hpp"
#include "deployments.hpp"
#include "replica_sets.hpp"
#include "watch.hpp"

namespace davit::cluster_memory {

namespace json = boost::json;

inline Random counter() {
  return [n = uint64_t{0}]() mutable { return ++n * 0x9e3779b97f4a7c15ull; };
}

class Simulation : public ::testing::Test {
 protected:
  using Response = cluster::Response;

  static cluster::Resource resource(std::string_view path) {  // "apps/v1/replicasets", "v1/pods"
    const size_t last = path.rfind('/');
    const std::string_view gv = path.substr(0, last);
    const size_t slash = gv.find('/');
    if (slash == std::string_view::npos)
      return {"", std::string(gv), std::string(path.substr(last + 1))};
    return {std::string(gv.substr(0, slash)), std::string(gv.substr(slash + 1)),
            std::string(path.substr(last + 1))};
  }
  Response call(std::string verb, std::string_view path, std::string ns, std::string name,
                std::string body = {}, Pairs query = {}, std::string subresource = {}) {
    cluster::Request q;
    q.verb = std::move(verb);
    q.resource = resource(path);
    q.ns = std::move(ns);
    q.name = std::move(name);
    q.body = std::move(body);
    q.query = std::move(query);
    q.subresource = std::move(subresource);
    return api.handle(q, now);
  }
  Response get(std::string_view path, std::string ns, std::string name) {
    return call("get", path, ns, name);
  }
  Response apply(std::string_view path, std::string ns, std::string name, std::string body,
                 std::string manager = "davit", bool force = true) {
    return call("apply", path, ns, name, body,
                {{"fieldManager", manager}, {"force", force ? "true" : "false"}});
  }
  // A config map of one namespace that exists.
  Response apply_map(std::string name, std::string data, std::string manager = "davit",
                     bool force = true) {
    return apply("v1/configmaps", "default", name,
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                     R"("},"data":)" + data + "}",
                 manager, force);
  }
  Response apply_replica_set(std::string name, int replicas, std::string image = "a:1") {
    return apply("apps/v1/replicasets", "default", name,
                 R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":")" + name +
                     R"(","labels":{"app":")" + name + R"("}},"spec":{"replicas":)" +
                     std::to_string(replicas) + R"(,"selector":{"matchLabels":{"app":")" + name +
                     R"("}},"template":{"metadata":{"labels":{"app":")" + name +
                     R"("}},"spec":{"containers":[{"name":"main","image":")" + image +
                     R"("}]}}}})");
  }
  static json::object object(const Response& r) { return json::parse(r.body).as_object(); }
  static std::string text(const Response& r, std::initializer_list<std::string_view> path) {
    const auto o = object(r);
    return std::string(string_at(o, path));
  }
  // Lets the controllers work until nothing is left to do now; keeps what happened for the test.
  void settle() {
    for (bool more = true; more;) {
      for (auto& e : store.take_events()) {
        deployments.observe(e);
        controllers.observe(e, now);
        events.push_back(e);
      }
      const auto before = store.version();
      store.collect_garbage(now);
      deployments.run(now);
      due = controllers.run(now);
      more = store.version() != before;
    }
  }
  void advance(int64_t ms) {
    settle();
    now += ms;
    settle();
  }
  size_t count(std::string_view path, std::string label_selector = {}) {
    auto r = call("get", path, "", "", "", {{"labelSelector", label_selector}});
    return object(r)["items"].as_array().size();
  }

  int64_t now = 1'775'000'000'000;
  Store store{counter()};
  Api api{store, now};
  Deployments deployments{store};
  ReplicaSets controllers{store, 500};
  std::optional<int64_t> due;
  std::vector<Event> events;
};

}  // namespace davit::cluster_memory
