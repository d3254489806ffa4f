// An instance of the plugin in a test's own host, and short ways to ask it.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <davit/cluster.hpp>
#include <future>
#include <mutex>

#include "davit/testing/module.hpp"

namespace davit::cluster_kubernetes {

using cluster::Response;
using testing::Config;
constexpr auto patience = std::chrono::seconds(60);

inline const cluster::Resource config_maps{"", "v1", "configmaps"};

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(DAVIT_TEST_PLUGIN);
  if (!loaded.ok()) throw std::runtime_error(loaded.error().message);
  return loaded->plugin();
}

class Running {
 public:
  explicit Running(const Config& config) : host("cluster", config), instance(plugin(), host) {
    up = instance.up();
    if (up.ok()) client = cluster::Client(instance.ref(DAVIT_CLUSTER));
  }

  Response ask(const cluster::Request& q) {
    auto answered = std::make_shared<std::promise<Response>>();
    auto future = answered->get_future();
    client.request(q, [answered](Response r) { answered->set_value(std::move(r)); });
    if (future.wait_for(patience) == std::future_status::ready) return future.get();
    ADD_FAILURE() << "no answer to " << q.verb;
    return {};
  }
  Response get(std::string name, std::string ns = "default") {
    return ask({"get", config_maps, ns, name, {}, {}, {}, {}, INT64_MAX});
  }
  Response apply(std::string name, std::string value, std::string ns = "default") {
    return ask(apply_request(name, value, ns));
  }
  Response remove(std::string name, std::string ns = "default") {
    return ask({"delete", config_maps, ns, name, {}, {}, {}, {}, INT64_MAX});
  }
  static cluster::Request apply_request(std::string name, std::string value, std::string ns) {
    return {"apply",
            config_maps,
            ns,
            name,
            {},
            {{"fieldManager", "test"}, {"force", "true"}},
            {},
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                R"(","labels":{"davit-test":"yes"}},"data":{"v":")" + value + "\"}}",
            INT64_MAX};
  }

  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  cluster::Client client;
};

// What a watch brought, as text ("+name", "*name", "-name", "RESTART", "SYNCED", "!trouble"), and
// the state that follows from it.
class Seen {
 public:
  Seen(Running& running, const cluster::WatchRequest& q, uint32_t credit) {
    watch = *running.client.watch(
        q, credit,
        {[this](int32_t type, std::string_view o) { event(type, o); }, [this] { end(); }});
  }
  ~Seen() {
    if (ended() == 0) watch.cancel();
    wait([this] { return ended_ > 0; });
  }

  template <class P>
  bool wait(P holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, holds);
  }
  bool wait_for(const std::string& e, size_t times = 1) {
    return wait(
        [&] { return std::count(events.begin(), events.end(), e) >= static_cast<long>(times); });
  }
  bool wait_trouble() {
    return wait([&] {
      return std::any_of(events.begin(), events.end(),
                         [](const std::string& e) { return e[0] == '!'; });
    });
  }
  bool wait_state(const std::string& name, const std::string& value) {
    return wait([&] { return state.contains(name) && state.at(name) == value; });
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& e : events) out += (out.empty() ? "" : ", ") + e;
    return out;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return events.size();
  }
  int ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  cluster::Watch watch;
  // Under the mutex: read them when the watch has ended, or inside of wait().
  std::vector<std::string> events;
  std::map<std::string, std::string> state;  // name -> data.v, by replay

 private:
  static std::string member(std::string_view object, std::string key) {
    key = "\"" + key + "\":\"";
    const size_t at = object.find(key);
    if (at == std::string_view::npos) return {};
    const size_t from = at + key.size();
    return std::string(object.substr(from, object.find('"', from) - from));
  }
  void event(int32_t type, std::string_view o) {
    const std::lock_guard lock(mutex_);
    const std::string name = member(o, "name");
    switch (type) {
      case DAVIT_WATCH_RESTART:
        events.push_back("RESTART");
        state.clear();
        break;
      case DAVIT_WATCH_SYNCED:
        events.push_back("SYNCED");
        break;
      case DAVIT_WATCH_TROUBLE:
      case DAVIT_WATCH_REFUSED:
        events.push_back("!" + std::string(o));
        break;
      case DAVIT_WATCH_DELETED:
        events.push_back("-" + name);
        state.erase(name);
        break;
      default:
        events.push_back((type == DAVIT_WATCH_ADDED ? "+" : "*") + name);
        state[name] = member(o, "v");
    }
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int ended_ = 0;
};

inline cluster::WatchRequest watching(std::string version = {}) {
  cluster::WatchRequest q;
  q.resource = config_maps;
  q.ns = "default";
  q.label_selector = "davit-test=yes";
  q.resource_version = std::move(version);
  return q;
}

}  // namespace davit::cluster_kubernetes
