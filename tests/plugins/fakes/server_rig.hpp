// A server in memory for tests of the plugins that serve it: the real SQLite store (":memory:"),
// the kind widget (and gadget), a fake RPC layer and codec, and a clock that the test owns.
#pragma once

#include <thread>

#include <google/protobuf/message_lite.h>
#include <gtest/gtest.h>

#include <davit/storage.hpp>
#include <davit/testing/module.hpp>

#include "fake_codec.hpp"
#include "fake_rpc.hpp"
#include "widget.hpp"

namespace davit::testing {

class ServerRig {
 public:
  // `plugin` is the one under test; `storage_module` the path of storage_sqlite.so.
  ServerRig(const davit_plugin* plugin, const std::string& storage_module, Config config = {},
            const std::string& database = ":memory:")
      : store_host("main", {{"path", database}, {"measure_interval_ms", 0}},
                   TestHost::Time::manual),
        kind_host(store_host, "widget"),
        gadget_host(store_host, "gadget"),
        host(store_host, "plugin", with_storage(std::move(config))),
        rpc(host.host().service<davit_exec>(DAVIT_EXEC)),
        store_module(*Loaded::open(storage_module)),
        store(store_module.plugin(), store_host),
        kind(widget_plugin(), kind_host),
        gadget(gadget_plugin(), gadget_host),
        instance(plugin, host) {
    store_host.add_service(DAVIT_CODEC, fake_codec());
    store_host.add_service(DAVIT_RPC, rpc.table());
    expect(store.up());
    expect(kind.up());
    storage = storage::Client(store_host.host(), store.ref(DAVIT_STORAGE));
  }
  ~ServerRig() { expect(down()); }

  // With two kinds, widget and gadget.
  void up_with_gadget() {
    expect(gadget.up());
    up();
  }
  void up() {
    expect(instance.up());
    started_ = true;
    host.run();
  }
  // stop() blocks until what it waits for has run, which is this thread's to do.
  Result<> down() {
    if (!std::exchange(started_, false)) return {};
    std::atomic<bool> stopped{false};
    Result<> result;
    std::thread stopping([&] {
      result = instance.stop();
      stopped = true;
    });
    while (!stopped) host.run();
    stopping.join();
    return result;
  }

  // Begins stop() on a thread of its own, and returns when that has got as far as `begun`.
  void begin_stop(const std::function<bool()>& begun) {
    started_ = false;
    stopping_ = std::thread([this] {
      result_ = instance.stop();
      stopped_ = true;
    });
    while (!begun()) host.run();
  }
  bool has_stopped() const { return stopped_; }
  // Its result.
  Result<> stopped() {
    while (!stopped_) host.run();
    stopping_.join();
    return result_;
  }

  // Commits one record and returns its version.
  Version put(const std::string& id, const std::string& state = "running", bool live = true,
              Pairs annotations = {}, const std::string& region = "eu",
              const std::string& name = {}, const std::string& kind_name = "widget") {
    Record r;
    r.key = {kind_name, region, id};
    r.ns = "shop";
    r.name = name.empty() ? "name-" + id : name;
    r.state = state;
    r.live = live;
    r.json = "{\"id\":\"" + id + "\",\"ns\":\"shop\",\"name\":\"" + r.name + "\"}";
    r.payload = fake_message(r.json);
    r.annotations = std::move(annotations);
    auto results = storage.commit_now({{{{r, any_version}}, ""}});
    EXPECT_TRUE(results.ok() && !(*results)[0].error);
    return results.ok() ? (*results)[0].first_version : Version();
  }
  Version kill(const std::string& id) { return put(id, "deleted", false); }

  // The one answer to a call of davit.v1, such as "OperatorService/Apply"; none is a failure.
  template <class Response>
  Response ask(const std::string& method, const google::protobuf::MessageLite& request,
               const std::string& token = "token") {
    auto& c = rpc.call("davit.v1." + method, request.SerializeAsString(), "",
                       [&](davit_rpc_call& made) { made.token = token; });
    host.run();
    Response out;
    EXPECT_EQ(c.messages.size(), 1u) << (c.end ? c.end->message : "no answer");
    EXPECT_TRUE(out.ParseFromString(c.messages.empty() ? "" : c.messages[0]));
    return out;
  }

  static void expect(const Result<>& r) { ASSERT_TRUE(r.ok()) << r.error().message; }

  TestHost store_host, kind_host, gadget_host, host;
  FakeRpc rpc;
  Loaded store_module;
  Instance store, kind, gadget, instance;
  storage::Client storage;

 private:
  bool started_ = false;
  std::thread stopping_;
  std::atomic<bool> stopped_{false};
  Result<> result_;
  static Config with_storage(Config c) { return c.set({"storage", "main"}); }
};

// Why no instance is made with these settings; "": one is.
inline std::string refusal_of(const davit_plugin* plugin, const std::string& storage_module,
                              Config config) {
  ServerRig rig(plugin, storage_module, std::move(config));
  const auto made = rig.instance.create();
  return made.ok() ? "" : made.error().message;
}

}  // namespace davit::testing
