// Whoever looks at a process of federation: the operator's calls, made of the loaded plugin.
#pragma once

#include <davit/v1/federation.pb.h>

#include "../fakes/fake_rpc.hpp"
#include "world.hpp"

namespace davit::federation::test {

// Restarts the plugin, with an RPC layer.
class Looker {
 public:
  explicit Looker(World& world)
      : world_(world), rpc_(world.host().host().service<davit_exec>(DAVIT_EXEC)) {
    world_.stop();
    world_.host().add_service(DAVIT_RPC, rpc_.table());
    world_.start();
  }

  // How it ended: "0", or the code and the message.
  std::string status(const std::string& resource = "", const std::string& object = "") {
    v1::FederationStatusRequest request;
    request.set_resource(resource);
    request.set_object(object);
    request.set_objects_max(5);
    return call("Status", request.SerializeAsString(), answer);
  }
  std::string release(const std::string& resource) {
    v1::FederationReleaseRequest request;
    request.set_resource(resource);
    v1::FederationReleaseResponse released;
    const std::string ended = call("Release", request.SerializeAsString(), released);
    return ended == "0" ? std::to_string(released.deletes()) : ended;
  }
  // "ahead 2, in_step 1" of the first resource.
  std::string counts() {
    EXPECT_EQ(status(), "0");
    std::map<std::string, uint64_t> sorted;
    if (answer.resources_size() > 0) {
      for (const auto& c : answer.resources(0).counts()) sorted[c.standing()] = c.objects();
    }
    std::string out;
    for (const auto& [standing, n] : sorted)
      out += (out.empty() ? "" : ", ") + standing + " " + std::to_string(n);
    return out;
  }

  v1::FederationStatusResponse answer;

 private:
  template <class Message>
  std::string call(const std::string& method, std::string request, Message& into) {
    auto& c = rpc_.call("davit.v1.FederationService/" + method, std::move(request), "",
                        [](davit_rpc_call& made) { made.role = "operator"; });
    world_.host().run();
    if (!c.end) return "no answer";
    if (c.end->code != Code::ok)
      return std::to_string(static_cast<int>(c.end->code)) + " " + c.end->message;
    EXPECT_TRUE(into.ParseFromString(c.messages.front()));
    return "0";
  }

  World& world_;
  testing::FakeRpc rpc_;
};

}  // namespace davit::federation::test
