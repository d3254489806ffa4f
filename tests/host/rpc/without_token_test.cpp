// A listener that asks for no token, beside one that does: who may call what on which.
#include "config/config.hpp"
#include "config/faults.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

struct WithoutToken : ::testing::Test {
  WithoutToken() {
    rig.serve_unary("test.Pods/Ask", "pod",
                    [](const davit::rpc::Call& call, Buffer, davit::rpc::Server::Reply reply) {
                      const auto who = call.identity();
                      reply(who.role + "," + who.name + "," + std::to_string(who.regions.size()));
                    });
    rig.serve_unary("test.Desk/Ask", "operator",
                    [](davit::rpc::Call, Buffer, davit::rpc::Server::Reply reply) {
                      reply(std::string("desk"));
                    });
    rig.serve_unary("test.Any/Ask", "",
                    [](davit::rpc::Call, Buffer, davit::rpc::Server::Reply reply) {
                      reply(std::string("any"));
                    });
  }
  void start(const std::string& more = {}) {
    rig.start("[rpc.server.pods]\nlisten = \"127.0.0.1:0\"\nrole_without_token = \"pod\"\n" +
              transport_line() + more);
  }
  // What came, or "CODE message".
  static std::string ask(const std::string& address, const std::string& path,
                         const std::string& token = {}) {
    Stub stub(address, token);
    Stub::Talk talk(stub, path);
    talk.ask("x");
    const auto message = talk.read();
    const grpc::Status end = talk.finish();
    if (message) return *message;
    return std::to_string(end.error_code()) + " " + end.error_message();
  }
  std::string pods() const { return rig.server.rpc.address("pods"); }

  Rig rig;
};

TEST_F(WithoutToken, EveryCallerHasTheRoleAndNoName) {
  start();
  EXPECT_EQ(ask(pods(), "test.Pods/Ask"), "pod,,0");
  EXPECT_EQ(ask(pods(), "test.Pods/Ask", "nobody's"), "pod,,0") << "the header is not looked at";
}

TEST_F(WithoutToken, NoMethodOfAnotherRoleIsServed) {
  start();
  const std::string denied = "7 a caller of server \"pods\" has role pod; test.Desk needs operator";
  EXPECT_EQ(ask(pods(), "test.Desk/Ask"), denied);
  EXPECT_EQ(ask(pods(), "test.Desk/Ask", "operator-secret"), denied)
      << "a good token of another server opens nothing here";
}

TEST_F(WithoutToken, AMethodForEveryCredentialTakesOne) {
  start();
  EXPECT_EQ(ask(pods(), "test.Any/Ask"),
            "7 a caller of server \"pods\" has no token; test.Any needs one");
  EXPECT_EQ(ask(rig.address(), "test.Any/Ask", "agent-secret"), "any");
}

TEST_F(WithoutToken, OtherServersAskForTheirTokensAllTheSame) {
  start();
  EXPECT_EQ(ask(rig.address(), "test.Pods/Ask"), "16 missing Authorization header");
  EXPECT_EQ(ask(rig.address(), "test.Pods/Ask", "operator-secret"),
            "7 token \"anna\" has role operator; test.Pods needs pod");
  EXPECT_EQ(ask(rig.address(), "test.Desk/Ask", "operator-secret"), "desk");
}

TEST_F(WithoutToken, ARoleThatIsNearlyOneThatAMethodAsksForIsRefused) {
  rig.server.configure(
      "[rpc.server.pods]\nlisten = \"127.0.0.1:0\"\nrole_without_token = \"pods\"\n");
  const auto wired = rig.server.try_wired();
  ASSERT_FALSE(wired.ok());
  EXPECT_EQ(wired.error().message,
            "test.toml:3: rpc.server.pods.role_without_token: no method asks for the role "
            "\"pods\"; did you mean \"pod\"?");
}

// Neither half of such a change may come into effect alone.
TEST_F(WithoutToken, AServerThatIsToAskForTokensNowTakesARestart) {
  start();
  Faults faults;
  const Config config = Config::parse(
      "[rpc.server.pods]\nlisten = \"127.0.0.1:0\"\n[[rpc.server.pods.token]]\nname = \"a\"\n"
      "role = \"operator\"\nfile = \"" +
          rig.folder.path("operator.token") + "\"\n",
      "test.toml", faults);
  std::vector<std::string> live;
  const auto change = rig.server.rpc.prepare_reload(config, faults, live);
  ASSERT_TRUE(faults.empty());
  change();
  EXPECT_EQ(live, std::vector<std::string>());
  EXPECT_EQ(ask(pods(), "test.Pods/Ask"), "pod,,0");
}

}  // namespace
}  // namespace davit::host
