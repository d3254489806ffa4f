// A world for the cluster controller: the plugin as it is loaded, on a simulated cluster and a
// clock that stands still until it is moved, with actuators that do what the test tells them.
#pragma once

#include <davit/actuator.hpp>

#include "../fakes/fake_gate.hpp"
#include "../fakes/simulated_cluster.hpp"
#include "../fakes/stop_running.hpp"

namespace davit::clusters::test {

namespace json = boost::json;
using namespace std::chrono_literals;
using actuator::Call;
using actuator::Outcome;

inline Outcome failure(Code code, const std::string& message, const std::string& where = "") {
  Outcome out;
  out.error = Error{code, message, where};
  return out;
}
inline Outcome later(std::chrono::milliseconds after, const std::string& progress = "") {
  Outcome out;
  out.requeue_after = after;
  out.progress = progress;
  return out;
}
inline Outcome saying(const std::string& status_patch) {
  Outcome out;
  out.status_patch = status_patch;
  return out;
}

// An actuator that a test scripts. It notes each call as "aws: reconcile a".
class Script {
 public:
  Script(testing::TestHost& world, std::string name, std::vector<std::string>& calls)
      : name_(std::move(name)), calls_(calls) {
    world.add_role(name_, DAVIT_ACTUATOR, reinterpret_cast<davit_instance*>(this),
                   actuator::Role::vtable<Script>());
  }
  // The answer to a call ("reconcile" or "remove"); nothing: it hangs until answer().
  std::function<std::optional<Outcome>(const std::string& operation, const Call&)> does;
  bool heeds_cancel = true;

  void reconcile(const Op& op, Call call, actuator::Done done) {
    begin("reconcile", op, std::move(call), std::move(done));
  }
  void remove(const Op& op, Call call, actuator::Done done) {
    begin("remove", op, std::move(call), std::move(done));
  }
  // Answers what hangs.
  void answer(const Outcome& outcome) {
    auto open = std::exchange(open_, {});
    for (auto& one : open) one.done(outcome);
  }
  // Of what hangs: those whose caller has given up are answered CANCELLED.
  void let_go() {
    std::erase_if(open_, [&](auto& one) {
      if (!heeds_cancel || !one.op.cancelled()) return false;
      one.done(failure(Code::cancelled, "the caller has given up"));
      return true;
    });
  }
  size_t open() const { return open_.size(); }
  Call last;

 private:
  struct Open {
    Op op;
    Call call;
    actuator::Done done;
  };
  void begin(const std::string& operation, const Op& op, Call call, actuator::Done done) {
    calls_.push_back(name_ + ": " + operation + " " + call.name);
    last = call;
    const auto outcome = does ? does(operation, call) : std::optional(Outcome());
    if (outcome) return done(*outcome);
    open_.push_back({op, std::move(call), std::move(done)});
  }

  const std::string name_;
  std::vector<std::string>& calls_;
  std::vector<Open> open_;
};

inline testing::Config table(const std::string& instance, std::vector<std::string> groups = {}) {
  testing::Config out{{"instance", instance}};
  if (!groups.empty()) out.set({"groups", std::move(groups)});
  return out;
}

class World {
 public:
  // `gated`: the process has a gate, which the test opens.
  explicit World(const testing::Config& config = {}, bool gated = false)
      : config_(with_defaults(config)),
        host_("clusters", config_, testing::TestHost::Time::manual),
        api(host_, "management", {"cluster.k8s.io", "v1alpha1", "clusters"}),
        aws(host_, "aws", calls),
        gcp(host_, "gcp", calls),
        addon(host_, "addon", calls) {
    if (gated) gate.emplace(host_, "leader");
    for (const char* kind : {"Cluster", "Machine", "MachineSet", "MachineDeployment"}) define(kind);
    start();
  }
  ~World() {
    stop();
    pumped([this] { EXPECT_TRUE(api.instance->stop().ok()); });
  }

  void wait(std::chrono::nanoseconds time = 1s) { host_.advance(time); }
  void start() {
    auto loaded = testing::Loaded::open(CLUSTER_CONTROLLER);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    plugin_ = std::make_unique<testing::Instance>(loaded->plugin(), host_);
    auto up = plugin_->create();
    if (up.ok()) up = plugin_->wire();
    if (up.ok()) up = plugin_->start();
    ASSERT_TRUE(up.ok()) << up.error().message;
    host_.run();
  }
  void stop() {
    if (plugin_ == nullptr) return;
    pumped([this] {
      const auto stopped = plugin_->stop();
      EXPECT_TRUE(stopped.ok()) << stopped.error().message;
    });
    plugin_.reset();
  }
  // Makes a Cluster, and lets the controller see it.
  void make(const std::string& name, const std::string& provider_spec = "{}",
            const std::string& metadata = "") {
    api.make(R"({"apiVersion":"cluster.k8s.io/v1alpha1","kind":"Cluster","metadata":{"name":")" +
             name + "\"" + (metadata.empty() ? "" : "," + metadata) +
             R"(},"spec":{"providerSpec":)" + provider_spec + "}}");
    wait();
  }
  void remove(const std::string& name) {
    api.remove(name);
    wait();
  }
  // The API server refuses these requests.
  void refuse(Code code, int32_t http, std::string message,
              std::function<bool(const cluster::Request&)> which) {
    cluster::Response r;
    r.code = code;
    r.http_status = http;
    r.message = std::move(message);
    api.front->policy = [r, which = std::move(which)](const cluster::Request& q) {
      return which(q) ? std::optional(r) : std::nullopt;
    };
  }
  void refuse_nothing() { api.front->policy = nullptr; }
  // The calls since the last one of this.
  std::string called() {
    std::string out;
    for (const std::string& call : std::exchange(calls, {}))
      out += (out.empty() ? "" : ", ") + call;
    return out;
  }
  // "False Failed: no quota" of the condition; empty: there is none.
  std::string condition(const std::string& name, const std::string& type = "Ready") {
    const json::value list = json::parse(or_empty(api.at(name, "/status/conditions")));
    for (const json::value& c : list.as_array()) {
      if (c.at("type").as_string() != type) continue;
      return std::string(c.at("status").as_string()) + " " +
             std::string(c.at("reason").as_string()) + ": " +
             std::string(c.at("message").as_string());
    }
    return "";
  }
  // "Warning CreateError: no quota (2)" of each Event.
  std::string events() {
    const auto r = api.send({DAVIT_VERB_GET, {"", "v1", "events"}, "default", "", "", {}, {}, ""});
    std::string out;
    const json::value list = json::parse(r.body);
    for (const json::value& e : list.at("items").as_array()) {
      out += std::string(e.at("type").as_string()) + " " + std::string(e.at("reason").as_string()) +
             ": " + std::string(e.at("message").as_string()) + " (" +
             json::serialize(e.at("count")) + ")\n";
    }
    return out;
  }
  testing::TestHost& host() { return host_; }

 private:
  static std::string or_empty(const std::string& text) { return text.empty() ? "[]" : text; }
  static testing::Config with_defaults(testing::Config c) {
    c.set({"cluster", "management"});
    const auto has = [&](const char* key) {
      for (const auto& entry : c.entries())
        if (entry.key == key) return true;
      return false;
    };
    if (!has("provider")) c.set({"provider", std::vector<testing::Config>{table("aws")}});
    return c;
  }
  void define(const std::string& kind) {
    std::string plural = kind + "s";
    for (char& c : plural) c = static_cast<char>(std::tolower(c));
    api.define(
        plural + ".cluster.k8s.io",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
        R"({"name":")" +
            plural + R"(.cluster.k8s.io"},"spec":{"group":"cluster.k8s.io","scope":"Namespaced",)" +
            R"("names":{"plural":")" + plural + R"(","kind":")" + kind +
            R"("},"versions":[{"name":"v1alpha1","served":true,"storage":true,)"
            R"("subresources":{"status":{}}}]}})");
  }
  void pumped(const std::function<void()>& blocking) {
    testing::run_beside(host_, blocking, [this] {
      api.front->let_go();
      for (Script* script : {&aws, &gcp, &addon}) script->let_go();
    });
  }

  const testing::Config config_;
  testing::TestHost host_;
  std::unique_ptr<testing::Instance> plugin_;

 public:
  std::vector<std::string> calls;
  testing::SimulatedCluster api;
  Script aws, gcp, addon;
  std::optional<testing::FakeGate> gate;
};

}  // namespace davit::clusters::test
