// The lists of tokens, read again while the server runs.
#include <atomic>
#include <filesystem>
#include <thread>

#include "config/config.hpp"
#include "config/faults.hpp"
#include "rig.hpp"

namespace davit::host {
namespace {

class Reload : public ::testing::Test {
 protected:
  Reload() {
    rig_.folder.write("west.token", "west-secret\n");
    rig_.serve_unary("test.Echo/Say", "agent",
                     [](davit::rpc::Call call, Buffer, davit::rpc::Server::Reply reply) {
                       auto region = davit::rpc::authorized_region(call);
                       if (!region.ok()) return reply(region.error());
                       reply(*region);
                     });
    rig_.serve_unary("test.Echo/Audit", "auditor",
                     [](davit::rpc::Call call, Buffer, davit::rpc::Server::Reply reply) {
                       reply(call.identity().role);
                     });
    davit::rpc::Method stays;
    stays.path = "test.Echo/Stay";
    stays.role = "agent";
    stays.server_streams = true;
    const auto served = rig_.serving().serve(stays, [this](davit::rpc::Call call) {
      struct Stays : davit::rpc::Handler {
        davit::rpc::Call call;
        void on_cancel() override { call.finish({Code::cancelled, "gone"}); }
      };
      auto handler = std::make_unique<Stays>();
      handler->call = call;
      rig_.serving().accept(call, rig_.server.host().strand(), std::move(handler));
      ++staying_;
    });
    EXPECT_TRUE(served.ok());
    rig_.start(other_listener() + other_tokens("west"));
  }

  static std::string other_listener() {
    return "[rpc.server.other]\nlisten = \"127.0.0.1:0\"\n" + transport_line();
  }
  std::string other_tokens(const std::string& name) const {
    return "[[rpc.server.other.token]]\nname = \"" + name +
           "\"\nregions = [\"eu-west-1\"]\nfile = \"" + rig_.folder.path(name) + ".token\"\n";
  }

  std::string token(const std::string& name, const std::string& region) const {
    return "[[rpc.server.main.token]]\nname = \"" + name + "\"\nregions = [\"" + region +
           "\"]\nfile = \"" + rig_.folder.path(name) + ".token\"\n";
  }
  // What is wrong; empty: it was taken.
  std::string reload(const std::string& tokens, const std::string& more = {}) {
    Faults faults;
    const Config config = Config::parse(
        "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + more + transport_line() + tokens,
        "test.toml", faults);
    live_.clear();
    const auto change = rig_.server.rpc.prepare_reload(config, faults, live_);
    if (faults.empty()) change();
    return faults.empty() ? "" : faults.lines().front();
  }
  Outcome call_as(const std::string& name, const std::string& region, const std::string& path) {
    auto side =
        rig_.another("url = \"http://" + rig_.address() + "\"\nregion = \"" + region +
                     "\"\nagent = \"a\"\ntoken_file = \"" + rig_.folder.path(name) + ".token\"\n");
    const auto channel = side->channel("control");
    EXPECT_TRUE(side->try_wired().ok());
    return call(*side, channel, path, "hello");
  }

  Rig rig_;
  std::vector<std::string> live_;
  std::atomic<int> staying_{0};
};

TEST_F(Reload, ANewAgentOfANewRegionNeedsNoRestart) {
  EXPECT_FALSE(rig_.serving().knows_region("us-west-1"));
  EXPECT_EQ(call_as("west", "us-west-1", "test.Echo/Say").code, Code::unauthenticated);
  EXPECT_EQ(reload(token("agent", "us-east-1") + token("west", "us-west-1")), "");
  EXPECT_EQ(live_, std::vector<std::string>{"rpc.server.main.token"});
  EXPECT_TRUE(rig_.serving().knows_region("us-west-1"));
  EXPECT_EQ(call_as("west", "us-west-1", "test.Echo/Say").messages,
            std::vector<std::string>{"us-west-1"});
  EXPECT_EQ(call_as("agent", "us-east-1", "test.Echo/Say").code, Code::ok);
}

TEST_F(Reload, ARoleIsWhatAMethodOfAPluginAsksFor) {
  EXPECT_EQ(reload(token("agent", "us-east-1") + token("west", "eu") + "role = \"auditor\"\n"), "");
  EXPECT_EQ(call_as("west", "eu", "test.Echo/Audit").messages, std::vector<std::string>{"auditor"});
  EXPECT_EQ(call_as("west", "eu", "test.Echo/Say").code, Code::permission_denied);
}

TEST_F(Reload, ARoleThatIsNearlyOneThatAMethodAsksForIsRefused) {
  const std::string fault = reload(token("west", "eu") + "role = \"auditr\"\n");
  EXPECT_TRUE(fault.starts_with("test.toml:")) << fault;
  EXPECT_TRUE(fault.ends_with(
      ": rpc.server.main.token[0].role: no method asks for the role \"auditr\"; did you mean "
      "\"auditor\"?"))
      << fault;
  EXPECT_EQ(call_as("agent", "us-east-1", "test.Echo/Say").code, Code::ok) << "nothing changed";
}

TEST(TokenRoles, AreLookedAtBeforeTheServerStarts) {
  const Folder folder;
  const std::string file = folder.write("a.token", "secret\n");
  const auto wired = [&](const std::string& role, std::string* log) {
    Side server("desk");
    server.configure(
        "[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n[[rpc.server.main.token]]\n"
        "name = \"a\"\nfile = \"" +
        file + "\"\nrole = \"" + role + "\"\n");
    davit::rpc::Method audit;
    audit.path = "test.Desk/Audit";
    audit.role = "auditor";
    const auto served =
        davit::rpc::Server(server.host())
            .unary(audit, [](davit::rpc::Call, Buffer, const davit::rpc::Server::Reply& reply) {
              reply(std::string());
            });
    EXPECT_TRUE(served.ok());
    const auto r = server.try_wired();
    for (const std::string& line : server.lines()) *log += line;
    return r.ok() ? "" : r.error().message;
  };
  std::string log;
  EXPECT_EQ(wired("auditor", &log), "");
  EXPECT_EQ(log.find("no method that is served asks"), std::string::npos) << log;
  EXPECT_NE(wired("auditor_", &log).find("did you mean \"auditor\"?"), std::string::npos);
  EXPECT_EQ(wired("somebody_else", &log), "");
  EXPECT_NE(log.find("no method that is served asks for the role of this token"), std::string::npos)
      << log;
}

TEST_F(Reload, WhoIsNotAmongTheTokensAnyMoreLosesItsStreams) {
  std::thread meanwhile([this] {
    eventually([this] { return staying_ == 1; });
    EXPECT_EQ(reload(token("west", "us-west-1")), "");
  });
  const auto end = call_as("agent", "us-east-1", "test.Echo/Stay");
  meanwhile.join();
  EXPECT_EQ(end.code, Code::unauthenticated) << end;
  EXPECT_FALSE(rig_.serving().knows_region("us-east-1"));
}

TEST_F(Reload, AListWithAFaultChangesNothing) {
  EXPECT_NE(reload(token("agent", "us-east-1") + token("nobody", "us-west-1")), "");
  EXPECT_NE(reload(token("agent", "no region")), "");
  EXPECT_NE(reload(""), "") << "a listener without tokens";
  EXPECT_EQ(call_as("agent", "us-east-1", "test.Echo/Say").code, Code::ok);
  EXPECT_FALSE(rig_.serving().knows_region("us-west-1"));
}

TEST_F(Reload, AFaultOfOneListenerLeavesTheOtherAsItIs) {
  const std::string mains = token("west", "us-west-1");
  EXPECT_NE(reload(mains + other_listener() + other_tokens("nobody")), "");
  EXPECT_EQ(call_as("agent", "us-east-1", "test.Echo/Say").code, Code::ok);
  EXPECT_EQ(call_as("west", "us-west-1", "test.Echo/Say").code, Code::unauthenticated);
  EXPECT_FALSE(rig_.serving().knows_region("us-west-1"));
  // The same list is taken once the file is there.
  rig_.folder.write("nobody.token", "somebody-secret\n");
  EXPECT_EQ(reload(mains + other_listener() + other_tokens("nobody")), "");
  EXPECT_EQ(call_as("west", "us-west-1", "test.Echo/Say").code, Code::ok);
  EXPECT_EQ(call_as("agent", "us-east-1", "test.Echo/Say").code, Code::unauthenticated);
}

TEST(AgentTokensDir, ARegionComesAndGoesWithItsFileWhileTheServerRuns) {
  Rig rig;
  rig.serve_unary("test.Echo/Say", "agent",
                  [](davit::rpc::Call call, Buffer, davit::rpc::Server::Reply reply) {
                    auto region = davit::rpc::authorized_region(call);
                    if (!region.ok()) return reply(region.error());
                    reply(*region);
                  });
  const std::string agents = rig.folder.path("agents");
  std::filesystem::create_directory(agents);
  rig.start("agent_tokens_dir = \"" + agents + "\"\n");
  EXPECT_FALSE(rig.serving().knows_region("us-west-1"));
  const std::string file = rig.folder.write("agents/us-west-1.token", "west-secret\n");
  EXPECT_TRUE(eventually([&] { return rig.serving().knows_region("us-west-1"); }));
  auto side =
      rig.another("url = \"http://" + rig.address() +
                  "\"\nregion = \"us-west-1\"\nagent = \"a\"\ntoken_file = \"" + file + "\"\n");
  const auto channel = side->channel("control");
  ASSERT_TRUE(side->try_wired().ok());
  // The region is known before its token is read.
  EXPECT_TRUE(
      eventually([&] { return call(*side, channel, "test.Echo/Say", "hello").code == Code::ok; }));
  std::filesystem::remove(file);
  EXPECT_TRUE(eventually([&] { return !rig.serving().knows_region("us-west-1"); }));
  EXPECT_EQ(call(*side, channel, "test.Echo/Say", "hello").code, Code::unauthenticated);
}

TEST(AgentTokensDir, MustBeThereAtTheStart) {
  Rig rig;
  rig.serve_unary(
      "test.Echo/Say", "agent",
      [](davit::rpc::Call, Buffer, davit::rpc::Server::Reply reply) { reply(std::string()); });
  const std::string agents = rig.folder.path("agents");
  rig.server.configure("[rpc.server.main]\nlisten = \"127.0.0.1:0\"\nagent_tokens_dir = \"" +
                       agents + "\"\n" + transport_line());
  const auto wired = rig.server.try_wired();
  ASSERT_FALSE(wired.ok());
  EXPECT_EQ(wired.error().message, "test.toml:1: rpc.server.main: agent_tokens_dir: " + agents +
                                       ": No such file or directory");
}

}  // namespace
}  // namespace davit::host
