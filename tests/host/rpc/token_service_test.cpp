// Tokens of agents that a server makes and removes by itself, over the wire and in the folder.
#include <sys/stat.h>

#include <davit_token_descriptors.h>
#include <google/protobuf/text_format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "codec/schema.hpp"
#include "rpc/agent_token_files.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

using Existing = AgentTokenFiles::Existing;
using TokenFileNames = std::set<std::string>;

TokenFileNames token_files_in(const std::string& folder) {
  TokenFileNames out;
  for (const auto& entry : fs::directory_iterator(folder))
    out.insert(entry.path().filename().string());
  return out;
}

struct TokenFiles : ::testing::Test {
  TokenFiles() { fs::create_directory(path); }
  Folder folder;
  const std::string path = folder.path("agents");
  const AgentTokenFiles files{path};
};

TEST_F(TokenFiles, AreMadeOnceAndReplacedOnRequest) {
  const auto made = files.create("eu-3", Existing::refuse, "");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made->created);
  EXPECT_EQ(made->token.size(), 64U);
  EXPECT_EQ(token_files_in(path), TokenFileNames{"eu-3.token"});
  struct stat found {};
  ASSERT_EQ(::stat(files.file("eu-3").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);

  EXPECT_EQ(files.create("eu-3", Existing::refuse, "").error().code, Code::already_exists);
  const auto kept = files.create("eu-3", Existing::keep, "");
  EXPECT_EQ(kept->token, made->token);
  EXPECT_FALSE(kept->created);
  const auto other = files.create("eu-3", Existing::replace, "");
  EXPECT_TRUE(other->created);
  EXPECT_NE(other->token, made->token);
  EXPECT_TRUE(*files.remove("eu-3", ""));
  EXPECT_FALSE(*files.remove("eu-3", "")) << "it is gone";
  EXPECT_TRUE(token_files_in(path).empty());
}

TEST_F(TokenFiles, BelongToWhoHasMadeThem) {
  ASSERT_TRUE(files.create("eu-3", Existing::keep, "Cluster a").ok());
  EXPECT_EQ(token_files_in(path), (TokenFileNames{".eu-3.maker", "eu-3.token"}));
  EXPECT_TRUE(files.create("eu-3", Existing::keep, "Cluster a").ok());
  for (const Existing existing : {Existing::keep, Existing::replace, Existing::refuse}) {
    const auto taken = files.create("eu-3", existing, "Cluster b");
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, Code::already_exists);
    EXPECT_EQ(taken.error().message, "the token of region eu-3 was made for Cluster a");
  }
  EXPECT_EQ(files.remove("eu-3", "Cluster b").error().code, Code::failed_precondition);
  EXPECT_TRUE(files.has("eu-3"));
  EXPECT_TRUE(*files.remove("eu-3", "")) << "an operator may";
  EXPECT_TRUE(token_files_in(path).empty());
  ASSERT_TRUE(files.create("eu-3", Existing::refuse, "").ok());
  EXPECT_EQ(files.create("eu-3", Existing::keep, "Cluster b").error().message,
            "the token of region eu-3 was made by an operator");
}

// What each step leaves when it is killed.
TEST_F(TokenFiles, AreMadeWhereverTheLastMakerWasKilled) {
  folder.write("agents/.eu-3.token.new", "half");
  folder.write("agents/.eu-3.maker", "Cluster b\n");
  EXPECT_TRUE(files.create("eu-3", Existing::refuse, "Cluster a")->created);
  EXPECT_EQ(token_files_in(path), (TokenFileNames{".eu-3.maker", "eu-3.token"}));
  EXPECT_FALSE(files.create("eu-3", Existing::keep, "Cluster b").ok());
  fs::remove(files.file("eu-3"));
  EXPECT_FALSE(*files.remove("eu-3", "Cluster a")) << "the token went, its maker stayed";
  EXPECT_TRUE(token_files_in(path).empty());
}

TEST_F(TokenFiles, SayWhatIsWrong) {
  folder.write("agents/eu-3.token", "two words\n");
  EXPECT_EQ(files.create("eu-3", Existing::keep, "").error().code, Code::failed_precondition);
  EXPECT_EQ(AgentTokenFiles(path + "/away").create("eu-3", Existing::keep, "").error().code,
            Code::unavailable);
  EXPECT_EQ(folder_region_fault("eu-3"), "");
  EXPECT_NE(folder_region_fault(".eu"), "");
  EXPECT_NE(folder_region_fault("a/b"), "");
  EXPECT_NE(folder_region_fault("*"), "");
}

struct TokenRig : Rig {
  TokenRig() { fs::create_directory(agents); }
  // Calls TokenService/`method` with a request as text: the answer as text, or "CODE message".
  std::string ask(const std::string& method, const std::string& request,
                  const std::string& token = "operator-secret") {
    pb::Arena arena;
    auto* message = *new_message(**schema, "davit.v1." + method + "Request", arena);
    EXPECT_TRUE(pb::TextFormat::ParseFromString(request, message)) << request;
    Stub stub(address(), token);
    Stub::Talk talk(stub, "davit.v1.TokenService/" + method);
    talk.ask(message->SerializeAsString());
    const auto bytes = talk.read();
    const grpc::Status end = talk.finish();
    if (!bytes) return std::to_string(end.error_code()) + " " + end.error_message();
    return (*read_message(**schema, "davit.v1." + method + "Response", *bytes, arena))
        ->ShortDebugString();
  }
  std::string content(const std::string& region) const {
    std::ifstream file(agents + "/" + region + ".token");
    std::string line;
    std::getline(file, line);
    return line;
  }
  bool admits(const std::string& token) {
    Stub stub(address(), token);
    Stub::Talk talk(stub, "test.Agents/Ask");
    talk.ask("x");
    const bool answered = talk.read().has_value();
    return talk.finish().ok() && answered;
  }

  const std::string agents = folder.path("agents");
  Result<std::unique_ptr<davit_schema>> schema = make_schema(view(davit_token_descriptors()), {});
};

TEST(TokenService, MakesATokenThatIsValidAtOnce) {
  TokenRig rig;
  rig.serve_unary(
      "test.Agents/Ask", "agent",
      [](davit::rpc::Call, Buffer, davit::rpc::Server::Reply reply) { reply(std::string("yes")); });
  rig.start("agent_tokens_dir = \"" + rig.agents + "\"\npublic_url = \"https://c.example:7070\"\n");
  EXPECT_EQ(rig.ask("DescribeAgents", "region: 'eu-3'"),
            "listener: \"main\" public_url: \"https://c.example:7070\"");
  const std::string made = rig.ask("CreateAgentToken", "region: 'eu-3'");
  const std::string token = rig.content("eu-3");
  EXPECT_EQ(made, "token: \"" + token + "\" created: true file: \"" + rig.agents + "/eu-3.token\"");
  EXPECT_TRUE(rig.admits(token));
  EXPECT_TRUE(rig.server.rpc.region_known("eu-3"));
  EXPECT_EQ(rig.ask("DescribeAgents", "region: 'eu-3'"),
            "listener: \"main\" public_url: \"https://c.example:7070\" region_has_token: true");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3'"),
            "6 region eu-3 has a token, " + rig.agents + "/eu-3.token");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3' existing: EXISTING_KEEP"),
            "token: \"" + token + "\" file: \"" + rig.agents + "/eu-3.token\"");
  rig.ask("CreateAgentToken", "region: 'eu-3' existing: EXISTING_REPLACE");
  EXPECT_FALSE(rig.admits(token));
  const std::string other = rig.content("eu-3");
  EXPECT_TRUE(rig.admits(other));
  EXPECT_EQ(rig.ask("DeleteAgentToken", "region: 'eu-3'"), "deleted: true");
  EXPECT_FALSE(rig.admits(other));
  EXPECT_EQ(rig.ask("DeleteAgentToken", "region: 'eu-3'"), "");
}

TEST(TokenService, IsForOperatorsAlone) {
  TokenRig rig;
  rig.start("agent_tokens_dir = \"" + rig.agents + "\"\n");
  for (const char* method : {"DescribeAgents", "CreateAgentToken", "DeleteAgentToken"}) {
    EXPECT_EQ(rig.ask(method, "region: 'eu-3'", "agent-secret").substr(0, 2), "7 ") << method;
    EXPECT_EQ(rig.ask(method, "region: 'eu-3'", "").substr(0, 3), "16 ") << method;
  }
  EXPECT_TRUE(token_files_in(rig.agents).empty());
}

TEST(TokenService, RefusesWhatItCannotDo) {
  TokenRig rig;
  rig.start("agent_tokens_dir = \"" + rig.agents + "\"\n");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: ''"), "3 region: a region's name is empty");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: '../x'").substr(0, 2), "3 ");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3' maker: 'a\\nb'").substr(0, 9), "3 maker: ");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3' required_features: 'x'").substr(0, 3),
            "12 ");
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3' listener: 'other'"),
            "5 no [rpc.server.other] with agent_tokens_dir is here; there are: main");
  EXPECT_TRUE(token_files_in(rig.agents).empty());
}

TEST(TokenService, SaysThatThereIsNoFolder) {
  TokenRig rig;
  rig.start();
  EXPECT_EQ(rig.ask("CreateAgentToken", "region: 'eu-3'").substr(0, 31),
            "9 no [rpc.server.NAME] of this ");
}

}  // namespace
}  // namespace davit::host
