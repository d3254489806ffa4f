// What the cluster suites share: a client, a namespace for each test, and a watch that records its
// events.
#pragma once

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <condition_variable>
#include <davit/cluster.hpp>
#include <future>
#include <mutex>
#include <random>

#include "suite.hpp"

namespace davit::conformance {

namespace json = boost::json;
using cluster::Request;
using cluster::Response;

inline const cluster::Resource config_maps{"", "v1", "configmaps"};
inline const cluster::Resource namespaces{"", "v1", "namespaces"};

inline json::object parsed(const std::string& body) {
  boost::system::error_code bad;
  auto v = json::parse(body, bad);
  return bad || !v.is_object() ? json::object{} : v.as_object();
}
inline std::string meta(const std::string& body, std::string_view key) {
  const auto o = parsed(body);
  const auto* m = o.if_contains("metadata");
  const auto* v = m != nullptr && m->is_object() ? m->get_object().if_contains(key) : nullptr;
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}
inline std::string random_name() {
  static std::mt19937_64 random{std::random_device{}()};
  return "davit-suite-" + std::to_string(random() % 1'000'000'000'000);
}

// One watch, and every event that it has reported.
class Seen {
 public:
  Seen(const cluster::Client& client, const cluster::WatchRequest& request, uint32_t credit) {
    auto begun = client.watch(request, credit,
                              {[this](int32_t type, std::string_view object) {
                                 const std::lock_guard lock(mutex_);
                                 events_.push_back(describe(type, std::string(object)));
                                 objects_.emplace_back(object);
                                 if (ended_ > 0) late_ = true;
                                 changed_.notify_all();
                               },
                               [this] {
                                 const std::lock_guard lock(mutex_);
                                 ++ended_;
                                 changed_.notify_all();
                               }});
    EXPECT_TRUE(begun.ok()) << why(begun);
    over_ = !begun.ok();
    if (begun.ok()) watch_ = *begun;
  }
  ~Seen() {
    if (!over_) cancel();
  }

  void credit(uint32_t more) { watch_.credit(more); }
  // True when `ended` came in time.
  bool cancel() {
    over_ = true;
    watch_.cancel();
    return wait([this] { return ended_ > 0; });
  }
  // For a watch that the instance ends, not the test. True when `ended` came in time.
  bool wait_ended() {
    over_ = true;
    return wait([this] { return ended_ > 0; });
  }
  // `event` is "RESTART", "SYNCED", "ADDED a", ... True when it came in time.
  bool wait_for(const std::string& event) {
    return wait([&] { return std::find(events_.begin(), events_.end(), event) != events_.end(); });
  }
  bool wait_count(size_t n) {
    return wait([&] { return events_.size() >= n; });
  }
  std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::string text() {
    std::string out;
    for (const auto& e : events()) out += (out.empty() ? "" : ", ") + e;
    return out;
  }
  std::vector<std::string> objects() {
    const std::lock_guard lock(mutex_);
    return objects_;
  }
  int ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  bool late() {
    const std::lock_guard lock(mutex_);
    return late_;
  }

 private:
  static std::string describe(int32_t type, const std::string& object) {
    switch (type) {
      case DAVIT_WATCH_ADDED:
        return "ADDED " + meta(object, "name");
      case DAVIT_WATCH_MODIFIED:
        return "MODIFIED " + meta(object, "name");
      case DAVIT_WATCH_DELETED:
        return "DELETED " + meta(object, "name");
      case DAVIT_WATCH_RESTART:
        return "RESTART";
      case DAVIT_WATCH_SYNCED:
        return "SYNCED";
      default:
        return "TROUBLE " + object;
    }
  }
  template <class P>
  bool wait(P holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience(), holds);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_, objects_;
  int ended_ = 0;
  bool late_ = false;
  bool over_ = false;
  cluster::Watch watch_;
};

class Cluster : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fresh.up().ok()) << why(fresh.up());
    client = cluster::Client(fresh.instance().ref(DAVIT_CLUSTER));
    ns = random_name();
    const auto r =
        call("create", namespaces, "", ns,
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns + "\"}}");
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  void TearDown() override {
    if (!fresh.up().ok() || stopped) return;
    call("delete", namespaces, "", ns);
  }

  Response ask(const Request& q) {
    auto answered = std::make_shared<std::promise<Response>>();
    auto future = answered->get_future();
    client.request(q, [answered](Response r) { answered->set_value(std::move(r)); });
    if (future.wait_for(patience()) == std::future_status::ready) return future.get();
    ADD_FAILURE() << "no answer to " << q.verb << " " << q.name;
    return {};
  }
  Response call(std::string verb, const cluster::Resource& resource, std::string in,
                std::string name, std::string body = {}, Pairs query = {}) {
    Request q;
    q.verb = std::move(verb);
    q.resource = resource;
    q.ns = std::move(in);
    q.name = std::move(name);
    q.body = std::move(body);
    q.query = std::move(query);
    return ask(q);
  }
  Response apply(std::string name, std::string data, std::string labels = "{}",
                 std::string manager = "suite", bool force = true) {
    return call("apply", config_maps, ns, name,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                    R"(","labels":)" + labels + R"(},"data":)" + data + "}",
                {{"fieldManager", manager}, {"force", force ? "true" : "false"}});
  }
  // A forced apply to the object and version that this response shows.
  Response apply_to(const Response& seen, const std::string& data) {
    const std::string name = meta(seen.body, "name");
    return call("apply", config_maps, ns, name,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                    R"(","uid":")" + meta(seen.body, "uid") + R"(","resourceVersion":")" +
                    meta(seen.body, "resourceVersion") + R"("},"data":)" + data + "}",
                {{"fieldManager", "suite"}, {"force", "true"}});
  }
  std::string data(const Response& r) {
    auto o = parsed(r.body);
    return o.contains("data") ? json::serialize(o["data"]) : "none";
  }
  cluster::WatchRequest watching(std::string labels = {}) {
    cluster::WatchRequest q;
    q.resource = config_maps;
    q.ns = ns;
    q.label_selector = std::move(labels);
    q.field_selector = "metadata.name!=kube-root-ca.crt";  // a real cluster creates this one
    return q;
  }

  Fresh fresh;
  cluster::Client client;
  std::string ns;
  bool stopped = false;
};

}  // namespace davit::conformance
