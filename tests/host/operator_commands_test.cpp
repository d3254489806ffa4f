// The operator's commands as scripts use them: when they end, and how.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "program.hpp"

namespace davit::test {
namespace {

// Connections are made by the kernel, and nobody ever answers.
class SilentServer {
 public:
  explicit SilentServer(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd_, 64) != 0)
      throw std::runtime_error(path + " cannot be listened on");
  }
  ~SilentServer() { ::close(fd_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

 private:
  int fd_;
};

class OperatorCommands : public testing::Test {
 protected:
  // What it printed, after its exit code: "0 ...".
  std::string davit(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--server", server_});
    Process davit(std::move(arguments));
    const int code = davit.wait();
    return std::to_string(code) + " " + davit.out() + davit.err();
  }

  // A document whose spec has this many bytes.
  static std::string document_of(size_t bytes) {
    return "{kind: deployment, region: eu, id: d_" + std::to_string(bytes) +
           ", spec: {x: " + std::string(bytes, 'x') + "}}";
  }
  // The configuration of a server whose answers to apply and delete have this many outcomes.
  std::string answering(const std::string& outcomes) const {
    return folder_.write("parrot.toml", head + "[rpc.server.operator]\nlisten = \"" + server_ +
                                            "\"\n[plugin.parrot]\nmodule = \"parrot\"\n" +
                                            "outcomes = " + outcomes + "\n");
  }

  Folder folder_;
  const std::string socket_ = folder_.path() + "/operator.sock";
  const std::string server_ = "unix:" + socket_;
  const std::string document_ =
      folder_.write("one.yaml", "{kind: deployment, region: eu, id: d_1, spec: {}}");
  const std::string config_ = folder_.write(
      "server.toml", "[host]\nstate_dir = \"state\"\n[rpc.server.operator]\nlisten = \"" + server_ +
                         "\"\n[plugin.main]\nmodule = \"storage_sqlite\"\n"
                         "[plugin.desired]\nmodule = \"desired\"\nstorage = \"main\"\n");
};

TEST_F(OperatorCommands, EachEndsAtItsTimeoutWhenTheServerIsSilent) {
  const SilentServer silent(socket_);
  const std::vector<std::vector<std::string>> commands = {
      {"apply", "-f", document_},
      {"apply", "-f", document_, "--wait"},
      {"diff", "-f", document_},
      {"describe", "deployment", "d_1"},
      {"wait", "deployment", "d_1", "--for=healthy"},
      {"status", "--watch"},
      {"explain", "deployment.image"},
      {"get"},
      {"get", "--watch"},
      {"get", "deployment", "d_1", "--region", "eu"},
      {"delete", "deployment", "d_1", "--region", "eu"},
      {"delete", "deployment", "--orphaned", "--region", "eu"},
      {"status"},
      {"agent", "forget", "eu", "a"},
      {"storage", "backup", folder_.path() + "/copy"},
      {"storage", "verify"},
      {"storage", "maintain"},
      {"federation", "status"},
      {"federation", "release", "robots.g"},
  };
  for (auto command : commands) {
    const std::string expected = "6 davit " + command.front() + ": server " + server_ +
                                 " could not be connected to within 300ms\n";
    command.insert(command.end(), {"--timeout", "300ms"});
    EXPECT_EQ(davit(command), expected);
  }
}

TEST_F(OperatorCommands, AWatchEndsAtItsTimeout) {
  Process server({"run", config_});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  // A machine under load may need longer to connect.
  std::string said, timeout;
  for (int s = 1; s < 100 && said.find(" was still answering ") == std::string::npos; s *= 2) {
    timeout = std::to_string(s) + "s";
    said = davit({"get", "--watch", "--timeout", timeout});
  }
  EXPECT_EQ(said, "6 davit get: server " + server_ + " was still answering Watch after " + timeout +
                      "\n");
}

TEST_F(OperatorCommands, WhatWentWrongIsTheExitCode) {
  const std::vector<std::string> apply = {"apply", "-f", document_};
  EXPECT_EQ(davit(apply).front(), '6') << "no server is there";
  Process server({"run", config_});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  EXPECT_EQ(davit({"status"}).front(), '0');
  EXPECT_EQ(davit({"federation", "status"}),
            "1 davit federation: this server does no federation\n");
  EXPECT_EQ(davit({"federation", "release"}).front(), '2');
  EXPECT_EQ(davit({"federation", "check", config_}).substr(0, 1), "5") << "no federation in it";
  EXPECT_EQ(davit({"get", "--fast"}).front(), '2');
  EXPECT_EQ(davit({"diff", "-f", document_}).front(), '4') << "as apply";
  EXPECT_EQ(davit({"describe", "deployment/d_1"}).front(), '4') << "the server knows no such kind";
  EXPECT_EQ(davit({"explain", "deployment"}).front(), '4');
  EXPECT_EQ(davit({"explain", "parkd"}).substr(0, 79),
            "2 davit explain: status shows no \"parkd\"; did you mean \"parked\"? (usage: davit ");
  EXPECT_EQ(davit({"wait", "deployment/d_1", "--for=asleep"}).front(), '2');
  EXPECT_EQ(davit({"get", "-o", "jsonpath={.items[*"}).substr(0, 58),
            "2 davit get: -o jsonpath: at character 8: a \"]\" is missing");
  EXPECT_EQ(davit({"get", "-l", "app=x"}).substr(0, 36), "2 davit get: records have no labels:");
  EXPECT_EQ(davit({"get", "--token-file", folder_.path() + "/none"}).front(), '2');
  EXPECT_EQ(davit(apply).front(), '4') << "the server knows no such kind";
  EXPECT_EQ(davit({"delete", "-f", document_}).front(), '4');
  EXPECT_EQ(davit({"apply", "-f", folder_.write("half.yaml", "{kind: deployment")}).front(), '4');
  EXPECT_EQ(davit({"agent", "forget", "eu", "a"}).front(), '5');
}

TEST_F(OperatorCommands, ALargeDocumentBehindASmallerOneIsSentInARequestOfItsOwn) {
  Process server({"run", config_});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  // Together they are more than a server takes in one request.
  const std::string files[] = {folder_.write("2.yaml", document_of(2'000'000)),
                               folder_.write("3.yaml", document_of(3'000'000))};
  const std::string unknown = ":1: kind: ";
  const std::string said = davit({"apply", "-f", files[0], "-f", files[1]});
  EXPECT_EQ(said.front(), '4') << said;
  for (const auto& file : files) EXPECT_NE(said.find(file + unknown), std::string::npos) << said;
}

TEST_F(OperatorCommands, ADocumentThatNoServerTakesIsNamedAndTheOthersAreSent) {
  Process server({"run", config_});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  const std::string large = folder_.write(
      "large.yaml", "{kind: deployment, region: eu, id: d_2, spec: {}, annotations: {a: " +
                        std::string(5'000'000, 'x') + "}}");
  const std::string long_id = folder_.write(
      "long.yaml", "{kind: deployment, region: eu, id: " + std::string(5'000'000, 'x') + "}");
  const std::string fault = ":1: is too large: no server takes a request of more than 4 MiB\n";
  const std::string applied = davit({"apply", "-f", large, "-f", document_});
  EXPECT_NE(applied.find(large + fault), std::string::npos) << applied;
  EXPECT_NE(applied.find(document_ + ":1: kind: "), std::string::npos) << applied;
  const std::string removed = davit({"delete", "-f", long_id, "-f", document_});
  EXPECT_NE(removed.find(long_id + fault), std::string::npos) << removed;
  EXPECT_NE(removed.find(document_ + ":1: "), std::string::npos) << removed;
}

TEST_F(OperatorCommands, AnAnswerWithAnotherNumberOfOutcomesIsAFailure) {
  for (const std::string outcomes : {"0", "2"}) {
    Process server({"run", answering(outcomes)});
    ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
    for (const std::string command : {"apply", "delete"}) {
      EXPECT_EQ(davit({command, "-f", document_}),
                "1 davit " + command + ": the server answered with " + outcomes +
                    " outcomes for 1 records; what became of each is not known\n");
    }
  }
}

TEST_F(OperatorCommands, DeleteSaysWhyAFileDeletesNothing) {
  const std::string empty = folder_.write("empty.yaml", "# nothing\n");
  EXPECT_EQ(davit({"delete", "-f", empty}),
            "4 davit delete: there is no document in what was given\n");
  EXPECT_EQ(davit({"delete", "-f", document_, "--region", "eu"})
                .find("2 davit delete: --region is for KIND ID; a document of -f FILE has its own"),
            0u);
}

TEST_F(OperatorCommands, WhatCannotBeReadIsNotTakenForEmpty) {
  const std::string& folder = folder_.path();
  const std::string fault = folder + ": cannot be read: Is a directory\n";
  const std::string empty = folder + "/empty";
  const std::string loop = folder + "/loop.yaml";
  std::filesystem::create_directory(empty);
  std::filesystem::create_symlink(loop, loop);
  for (const std::string command : {"apply", "delete"}) {
    EXPECT_EQ(
        davit({command, "-f", empty}),
        "4 " + empty + ": has no *.yaml, *.yml or *.json file; -R looks in subfolders, too\n");
    EXPECT_EQ(davit({command, "-f", loop}),
              "4 " + loop + ": cannot be read: Too many levels of symbolic links\n");
  }
  const std::string token = davit({"get", "--token-file", folder});
  EXPECT_EQ(token.front(), '2') << token;
  EXPECT_NE(token.find(fault), std::string::npos) << token;
}

TEST_F(OperatorCommands, WhatIsNotThereIsSaidOfTheRegionThatWasNamed) {
  Process server({"run", answering("0")});
  ASSERT_TRUE(server.wait_for_line("ready")) << server.err();
  EXPECT_EQ(davit({"get", "deployment", "d_1", "--watch", "--region", "eu"}),
            "5 davit get: no deployment \"d_1\" in region \"eu\"\n");
  EXPECT_EQ(davit({"get", "deployment", "d_1", "--watch"}),
            "5 davit get: no deployment \"d_1\" in any region\n");
}

TEST_F(OperatorCommands, ATimeoutThatIsNoneIsAUsageError) {
  for (const std::string command : {"get", "status"}) {
    const std::string said = davit({command, "--timeout", "soon"});
    EXPECT_EQ(
        said.find("2 davit " + command + ": --timeout must be like 60s, 5m or 7d, not \"soon\""),
        0u)
        << said;
  }
}

}  // namespace
}  // namespace davit::test
