// Who may call what: every refusal with its exact words.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

struct Gate : Rig {
  Gate() {
    serve_unary("davit.v1.AgentService/Get", "agent",
                [](Call, Buffer, Reply reply) { reply(std::string("ok")); });
    serve_unary("davit.v1.OperatorService/Apply", "operator",
                [](Call, Buffer, Reply reply) { reply(std::string("ok")); });
  }
  // A call with the given token file.
  Outcome with(const std::string& token_file, const std::string& path) {
    const auto side = another("region = \"us-east-1\"\nurl = \"http://" + address() +
                              "\"\ntoken_file = \"" + folder.path(token_file) + "\"");
    return call(*side, side->channel("control"), path, "");
  }
};

TEST(Region, IsKnownWhenAnAgentsTokenNamesIt) {
  Rig rig;
  rig.start();
  const davit::rpc::Server server(rig.server.host());
  EXPECT_TRUE(server.knows_region("us-east-1"));
  EXPECT_FALSE(server.knows_region("us-east"));
  EXPECT_FALSE(davit::rpc::Server(rig.client.host()).knows_region("us-east-1")) << "serves nobody";
  Side every("every");
  every.configure(
      "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n[[rpc.server.main.token]]\nname = \"edge\"\n"
      "regions = [\"*\"]\nfile = \"" +
      rig.folder.path("agent.token") + "\"");
  EXPECT_TRUE(davit::rpc::Server(every.host()).knows_region("anywhere"));
}

TEST(Refusal, ATokenOfTheWrongRoleNamesBoth) {
  Gate gate;
  gate.start();
  EXPECT_EQ(gate.with("agent.token", "davit.v1.AgentService/Get").code, Code::ok);
  EXPECT_EQ(gate.with("operator.token", "davit.v1.OperatorService/Apply").code, Code::ok);
  const Outcome o = gate.with("agent.token", "davit.v1.OperatorService/Apply");
  EXPECT_EQ(o.code, Code::permission_denied);
  EXPECT_EQ(o.message,
            "control: token \"edge\" has role agent; davit.v1.OperatorService needs operator");
  const Outcome p = gate.with("operator.token", "davit.v1.AgentService/Get");
  EXPECT_EQ(p.message,
            "control: token \"anna\" has role operator; davit.v1.AgentService needs agent");
}

TEST(Refusal, AWrongTokenIsNotKnown) {
  Gate gate;
  gate.folder.write("wrong.token", "agent-secreT");
  gate.start();
  const Outcome o = gate.with("wrong.token", "davit.v1.AgentService/Get");
  EXPECT_EQ(o.code, Code::unauthenticated);
  EXPECT_EQ(o.message, "control: invalid bearer token");
  EXPECT_EQ(gate.with("wrong.token", "no.such/Method").code, Code::unauthenticated);
}

TEST(Refusal, AnUnknownMethodIsUnimplemented) {
  Gate gate;
  gate.start();
  const Outcome o = gate.with("agent.token", "davit.v1.AgentService/Gett");
  EXPECT_EQ(o.code, Code::unimplemented);
  EXPECT_EQ(o.message, "control: method davit.v1.AgentService/Gett is not served here");
}

TEST(Refusal, IsLoggedOnceNotPerCall) {
  Gate gate;
  gate.folder.write("wrong.token", "nope");
  gate.start();
  for (int i = 0; i < 20; ++i) gate.with("wrong.token", "davit.v1.AgentService/Get");
  int logged = 0;
  for (const auto& line : gate.server.lines())
    logged += line.find("call refused") != std::string::npos ? 1 : 0;
  EXPECT_EQ(logged, 1);
  for (const auto& line : gate.server.lines())
    EXPECT_EQ(line.find("nope"), std::string::npos) << line;
}

TEST(Refusal, ATokenIsRotatedByReplacingItsFile) {
  Gate gate;
  gate.folder.write("new.token", "rotated");
  gate.start();
  ASSERT_EQ(gate.with("agent.token", "davit.v1.AgentService/Get").code, Code::ok);
  ASSERT_EQ(gate.with("new.token", "davit.v1.AgentService/Get").code, Code::unauthenticated);
  gate.folder.write("agent.token", "rotated");
  // The server looks once a second, and so does a client that is already there: it goes on without
  // a restart.
  EXPECT_TRUE(eventually(
      [&] { return gate.with("new.token", "davit.v1.AgentService/Get").code == Code::ok; }));
  EXPECT_TRUE(eventually([&] {
    return call(gate.client, gate.channel, "davit.v1.AgentService/Get", "").code == Code::ok;
  }));
}

TEST(Refusal, ATokenFileThatIsMissingStopsTheStart) {
  Side server("s");
  server.configure(
      "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n[[rpc.server.main.token]]\nname = "
      "\"edge\"\nregions = [\"*\"]\n"
      "file = \"/nowhere/edge.token\"");
  const auto r = server.try_wired();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message,
            "test.toml:1: rpc.server.main: token \"edge\": /nowhere/edge.token: no such file");

  Side client("c");
  client.configure(
      "[rpc.client.control]\nurl = \"http://127.0.0.1:1\"\nregion = \"r\"\ntoken_file = "
      "\"/nowhere/edge.token\"");
  const auto c = client.try_wired();
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, Code::unauthenticated);
  EXPECT_EQ(c.error().message.rfind(
                "test.toml:4: rpc.client.control: token_file: /nowhere/edge.token: ", 0),
            0u)
      << c.error().message;
}

TEST(Refusal, APortInUseNamesTheLineToChange) {
  Gate gate;
  gate.start();
  Side second("s");
  second.configure("\n[rpc.server.main]\n# which port?\nlisten = \"" + gate.address() +
                   "\"\n[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"*\"]\nfile = \"" +
                   gate.folder.path("agent.token") + "\"");
  ASSERT_TRUE(second.try_wired().ok());
  const auto r = second.rpc.listen();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message, "rpc.server.main: cannot listen on " + gate.address() +
                                   ": address already in use (set another port in test.toml:4)");
}

TEST(Refusal, ChannelsAndMethodsAreOnlyGivenWhileWiring) {
  Gate gate;
  gate.start();
  EXPECT_EQ(davit::rpc::Channel::find(gate.client.host(), "control").error().message,
            "channels are found only during wire");
  Side side("x");
  side.configure(
      "[rpc.client.a]\nurl = \"unix:/x\"\nregion = \"r\"\n[rpc.client.b]\nurl = "
      "\"unix:/x\"\nregion = \"r\"");
  EXPECT_EQ(davit::rpc::Channel::find(side.host(), "controll").error().message,
            "there is no [rpc.client.controll] (there are: a, b)");
  davit::rpc::Method m;
  m.path = "a.B/C";
  ASSERT_TRUE(davit::rpc::Server(side.host()).unary(m, {}).ok());
  EXPECT_EQ(davit::rpc::Server(side.host()).unary(m, {}).error().message,
            "a.B/C is served by \"x\" already");
  m.path = "no-method";
  EXPECT_FALSE(davit::rpc::Server(side.host()).unary(m, {}).ok());
}

// Bytes that are no gRPC, and gRPC that stops half way: nothing of it reaches a plugin, and the
// server goes on.
TEST(Refusal, BrokenClientsDoNoHarm) {
  Gate gate;
  gate.start();
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  const std::string half_headers("\0\0\x40\1\4\0\0\0\1\x83\x86", 11);  // says 64 bytes, sends 2
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xff'), preface,
        preface + settings + half_headers, std::string("\x16\x03\x01\x02\x00", 5)}) {
    const std::string address = gate.address();
    const size_t colon = address.rfind(':');
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    ASSERT_EQ(getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(),
                          &hints, &found),
              0);
    const int fd = socket(found->ai_family, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, found->ai_addr, found->ai_addrlen), 0);
    freeaddrinfo(found);
    [[maybe_unused]] const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    close(fd);
  }
  EXPECT_EQ(call(gate.client, gate.channel, "davit.v1.AgentService/Get", "").code, Code::ok);
}

}  // namespace
}  // namespace davit::host
