// A rollout with the simulated cluster's ReplicaSet controller: what the agent would carry out is
// carried out, and the kind looks again when something changed or when it asked to.
#include <set>

#include <gtest/gtest.h>

#include "api.hpp"
#include "message.hpp"
#include "reconcile.hpp"
#include "replica_sets.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;
namespace memory = cluster_memory;

constexpr int64_t step_ms = 100;
constexpr int64_t ready_after_ms = 500;

class Rollouts : public ::testing::Test {
 protected:
  Rollouts() {
    desired_ = minimal();
    desired_["replicas"] = 3;
    site_.min_ready_seconds = 0;
  }
  void want_image(const char* image) {
    desired_["image"] = image;
    looked_at_version_ = ~uint64_t{0};
  }

  // Lets time pass. `lying`: the controller's status says that it has seen everything.
  void pass(int64_t ms, bool lying = false) {
    for (const int64_t end = now_ + ms; now_ < end; now_ += step_ms) {
      settle();
      const bool asked = look_at_ != 0 && now_ >= look_at_;
      if (store_.version() == looked_at_version_ && !asked) continue;
      reconcile_once(lying);
    }
  }

  std::vector<json::object> pods() const {
    std::vector<json::object> out;
    for (const auto& pod : store_.list({"", "pods"}, "acme")) out.push_back(*pod);
    return out;
  }
  std::string images() const {
    std::set<std::string> out;
    for (const json::value pod : pods())
      out.insert(pod.at_pointer("/spec/containers/0/image").as_string().c_str());
    std::string text;
    for (const auto& image : out) text += image + " ";
    return text;
  }

  Site site_;
  json::object desired_;
  json::object status_;
  int64_t now_ = 1'775'000'000'000;
  memory::Store store_{[n = uint64_t{0}]() mutable { return ++n * 0x9e3779b97f4a7c15ull; }};
  memory::Api api_{store_, now_};
  memory::ReplicaSets controller_{store_, ready_after_ms};
  int deletes_ = 0;           // of pods, by the plan
  size_t fewest_ready_ = 99;  // seen since it was last set

 private:
  void settle() {
    for (bool more = true; more;) {
      const auto before = store_.version();
      for (const auto& event : store_.take_events()) controller_.observe(event, now_);
      controller_.run(now_);
      more = store_.version() != before;
    }
    size_t ready = 0;
    for (const json::value pod : pods()) ready += pod.at_pointer("/status/phase") == "Running";
    fewest_ready_ = std::min(fewest_ready_, ready);
  }

  json::array observed(bool lying) const {
    json::array out;
    for (const auto& stored : store_.list(memory::replica_sets, "acme")) {
      json::value object = *stored;
      if (lying && object.as_object().contains("status")) {
        object.at("status").as_object()["observedGeneration"] =
            object.at_pointer("/metadata/generation");
      }
      out.push_back(std::move(object));
    }
    for (const auto& pod : pods()) out.push_back(pod);
    return out;
  }

  void reconcile_once(bool lying) {
    looked_at_version_ = store_.version();
    const json::object input{{"record", {{"id", "d_1"}, {"namespace", "acme"}, {"name", "web"}}},
                             {"desired", desired_},
                             {"observed", observed(lying)},
                             {"now_unix_ms", now_}};
    const json::value plan = json::parse(reconcile(json::serialize(input), site_).value());
    status_ = plan.at("status").as_object();
    const int64_t wait = plan.at("look_again_ms").as_int64();
    look_at_ = wait == 0 ? 0 : now_ + wait;
    for (const auto& step : plan.at("apply").as_array()) write(step.at("object"));
    for (const auto& gone : plan.at("delete").as_array()) {
      ++deletes_;
      send("delete", {"", "v1", "pods"}, "acme", gone.at("name").as_string().c_str(), {});
    }
  }
  void write(const json::value& object) {
    const bool space = object.at("kind") == "Namespace";
    const std::string name = object.at_pointer("/metadata/name").as_string().c_str();
    const cluster::Resource resource = space ? cluster::Resource{"", "v1", "namespaces"}
                                             : cluster::Resource{"apps", "v1", "replicasets"};
    send("apply", resource, space ? "" : "acme", name, json::serialize(object));
  }
  void send(std::string verb, cluster::Resource resource, std::string ns, std::string name,
            std::string body) {
    cluster::Request q;
    q.verb = std::move(verb);
    q.resource = std::move(resource);
    q.ns = std::move(ns);
    q.name = std::move(name);
    q.body = std::move(body);
    if (q.verb == "apply") q.query = {{"fieldManager", "davit"}, {"force", "true"}};
    const auto answer = api_.handle(q, now_);
    EXPECT_EQ(answer.code, Code::ok) << answer.body;
  }

  uint64_t looked_at_version_ = 0;
  int64_t look_at_ = 0;  // 0: only when something changes
};

TEST_F(Rollouts, ReplaceEachPodOnceAndKeepEnoughReady) {
  pass(60'000);
  want_image("nginx:2");
  fewest_ready_ = 99;
  pass(60'000);
  EXPECT_EQ(images(), "nginx:2 ");
  EXPECT_EQ(deletes_, 3);
  EXPECT_EQ(fewest_ready_, 2u);
  EXPECT_EQ(status_.at("health"), "healthy");
}

TEST_F(Rollouts, ReplaceNoPodWhileTheControllerIsBehind) {
  pass(60'000);
  controller_.fall_behind();
  want_image("nginx:2");
  pass(600'000);
  EXPECT_EQ(deletes_, 0);
  EXPECT_EQ(images(), "nginx:1.27 ");
  const std::string message = status_.at("message").as_string().c_str();
  EXPECT_NE(message.find("controller has not seen the newest template"), std::string::npos)
      << message;
  controller_.catch_up();
  pass(60'000);
  EXPECT_EQ(images(), "nginx:2 ");
  EXPECT_EQ(deletes_, 3);
}

// A controller whose status is right and whose picture of the template is not.
TEST_F(Rollouts, ReplaceFewPodsThatComeBackAsTheyWere) {
  pass(60'000);
  controller_.fall_behind();
  want_image("nginx:2");
  fewest_ready_ = 99;
  pass(60'000, true);
  EXPECT_GT(deletes_, 0);
  EXPECT_LE(deletes_, 13) << "one in five seconds";
  EXPECT_GE(fewest_ready_, 2u);
  controller_.catch_up();
  pass(60'000);
  EXPECT_EQ(images(), "nginx:2 ");
}

TEST_F(Rollouts, WithASurgeKeepAllReady) {
  site_.max_unavailable = 0;
  site_.max_surge = 2;
  pass(60'000);
  want_image("nginx:2");
  fewest_ready_ = 99;
  pass(60'000);
  EXPECT_EQ(images(), "nginx:2 ");
  EXPECT_EQ(deletes_, 3);
  EXPECT_EQ(fewest_ready_, 3u);
  EXPECT_EQ(pods().size(), 3u);
  EXPECT_EQ(status_.at("health"), "healthy");
}

TEST_F(Rollouts, WaitUntilANewPodHasBeenReadyForLong) {
  site_.min_ready_seconds = 30;
  pass(60'000);
  want_image("nginx:2");
  pass(25'000);
  EXPECT_EQ(deletes_, 1);
  pass(10'000);
  EXPECT_EQ(deletes_, 2);
  pass(60'000);
  EXPECT_EQ(deletes_, 3);
  EXPECT_EQ(images(), "nginx:2 ");
}

}  // namespace
}  // namespace davit::deployment::test
