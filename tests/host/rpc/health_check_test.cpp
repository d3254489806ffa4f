// grpc.health.v1.Health as a probe sees it: a client without credentials.
#include "stub.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

const std::string check = "grpc.health.v1.Health/Check";
const std::string watch = "grpc.health.v1.Health/Watch";

std::string request(const std::string& service) {
  if (service.empty()) return {};
  return "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
}

// The field `status` of a HealthCheckResponse.
std::string word(const std::optional<std::string>& response) {
  static const std::vector<std::string> words = {"unknown", "serving", "not serving",
                                                 "service unknown"};
  if (!response) return "end";
  if (response->size() != 2 || (*response)[0] != '\x08') return "not a response";
  return words.at(static_cast<size_t>((*response)[1]));
}

struct Probed : Rig {
  Probed() {
    serve_unary("davit.v1.AgentService/Get", "agent",
                [](Call, Buffer, Reply reply) { reply(std::string("ok")); });
  }
  void start_serving() {
    start();
    server.health.set("streamer", DAVIT_HEALTH_SERVING, "");
  }
};

TEST(HealthCheck, AnswersWithoutATokenWhatReadyzSays) {
  Probed rig;
  rig.start();
  Stub probe(rig.address());
  const auto now = [&] { return word(probe.unary(check, {}).message); };
  EXPECT_EQ(now(), "not serving") << "no instance has said that it serves";
  rig.server.health.set("streamer", DAVIT_HEALTH_SERVING, "");
  EXPECT_EQ(now(), "serving");
  rig.server.health.set("streamer", DAVIT_HEALTH_DEGRADED, "slow");
  EXPECT_EQ(now(), "serving");
  rig.server.health.set("recorder", DAVIT_HEALTH_NOT_SERVING, "no store");
  EXPECT_EQ(now(), "not serving");
}

TEST(HealthCheck, AServiceIsAsReadyAsTheProcess) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  for (const char* service : {"davit.v1.AgentService", "grpc.health.v1.Health"})
    EXPECT_EQ(word(probe.unary(check, request(service)).message), "serving") << service;
  rig.server.health.set("streamer", DAVIT_HEALTH_STARTING, "");
  EXPECT_EQ(word(probe.unary(check, request("davit.v1.AgentService")).message), "not serving");
}

TEST(HealthCheck, AServiceThatIsNotServedIsNotFound) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  for (const char* service : {"davit.v1.AgentServic", "davit.v1", "davit.v1.AgentService/Get", "/",
                              "grpc.reflection.v1.ServerReflection"}) {
    const auto answer = probe.unary(check, request(service));
    EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::NOT_FOUND) << service;
    EXPECT_EQ(answer.status.error_message(),
              "service \"" + std::string(service) + "\" is not served here");
  }
}

TEST(HealthCheck, AWatchHearsOfEveryTurn) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  Stub::Talk talk(probe, watch);
  talk.write(request("davit.v1.AgentService"));
  talk.half_close();
  EXPECT_EQ(word(talk.read()), "serving");
  rig.server.health.set("streamer", DAVIT_HEALTH_DEGRADED, "slow");  // as ready as before
  rig.server.health.set("recorder", DAVIT_HEALTH_NOT_SERVING, "no store");
  EXPECT_EQ(word(talk.read()), "not serving");
  rig.server.health.set("recorder", DAVIT_HEALTH_SERVING, "");
  EXPECT_EQ(word(talk.read()), "serving");
}

TEST(HealthCheck, AWatchOfAnUnknownServiceSaysSoAndStays) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  Stub::Talk talk(probe, watch);
  talk.write(request("no.such.Service"));
  talk.half_close();
  EXPECT_EQ(word(talk.read()), "service unknown");
  rig.server.rpc.drain();
  EXPECT_EQ(word(talk.read()), "end");
  EXPECT_EQ(talk.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(HealthCheck, AServerThatGoesDownIsNotServing) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  Stub::Talk talk(probe, watch);
  talk.write({});
  talk.half_close();
  EXPECT_EQ(word(talk.read()), "serving");
  rig.server.rpc.drain();
  // The last word is said unless the one before it is still on its way; the end says it, too.
  std::string last = word(talk.read());
  if (last == "not serving") last = word(talk.read());
  EXPECT_EQ(last, "end");
  EXPECT_EQ(talk.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(word(probe.unary(check, {}).message), "not serving");
  Stub::Talk late(probe, watch);
  EXPECT_EQ(late.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(HealthCheck, IsOnTheUnixSocketToo) {
  Probed rig;
  rig.server.configure("[rpc.server.operator]\nlisten = \"unix:" + rig.folder.path("op.sock") +
                       "\"");
  rig.server.listen();
  rig.server.health.set("streamer", DAVIT_HEALTH_SERVING, "");
  Stub probe("unix:" + rig.folder.path("op.sock"));
  EXPECT_EQ(word(probe.unary(check, {}).message), "serving");
}

TEST(HealthCheck, BytesThatAreNoRequestAreRefused) {
  Probed rig;
  rig.start_serving();
  Stub probe(rig.address());
  for (const auto& path : {check, watch}) {
    EXPECT_EQ(probe.unary(path, "\x0a\x7fshort").status.error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
    const auto large = probe.unary(path, std::string(5'000, 'x')).status;
    EXPECT_EQ(large.error_message(),
              "request of 5000 bytes is larger than the limit of 4096 bytes of " + path);
    Stub::Talk nothing(probe, path);
    nothing.half_close();
    EXPECT_EQ(nothing.finish().error_message(), "the request message is missing");
  }
  EXPECT_EQ(word(probe.unary(check, {}).message), "serving");
}

}  // namespace
}  // namespace davit::host
