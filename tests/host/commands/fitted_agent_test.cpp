#include "commands/fitted_agent.hpp"

#include <gtest/gtest.h>

#include "settings/shipped_files.hpp"

namespace davit::host {
namespace {

bool is_fitted_kind(const std::string& module) {
  return module.starts_with("kind_");
}

std::string fitted(const std::string& shipped, const std::vector<ServerPlugin>& kinds) {
  const std::string out = fitted_agent_toml(shipped, kinds, is_fitted_kind, "https://c:1", "eu-3");
  return out.substr(out.find('\n') + 1);  // without its head
}

constexpr const char* some_agent = R"(# An agent.

[host]
#log_level = "info"

[rpc.client.control]
url = "https://control.example:7070"  # with "quotes" behind it
region = "eu-1"                       # where it is
token_file = "/etc/davit/agent.token" # read again

[plugin.cluster]
module = "cluster_kubernetes"   # or another

[plugin.one]
module = "kind_one"
server = "control"              # a neighbour
#size = 1
#[[plugin.one.parts]]
#name = "x"

#[plugin.two]                   # off
#module = "kind_two"
#size = 2

#[plugin.vault]
#module = "secrets_vault"
)";

TEST(FittedAgent, HasTheKindsOfItsServer) {
  EXPECT_EQ(fitted(some_agent, {{"one", "kind_one"}, {"other", "kind_three"}}), R"(
[rpc.client.control]
url = "https://c:1"
region = "eu-3"
token_file = "/etc/davit/agent.token" # read again

[plugin.cluster]
module = "cluster_kubernetes"

[plugin.one]
module = "kind_one"
server = "control"

[plugin.other]
module = "kind_three"
)");
}

TEST(FittedAgent, SwitchesOnWhatIsShippedOffAndLeavesOutWhatTheServerLacks) {
  const std::string out = fitted(some_agent, {{"b", "kind_two"}, {"cluster", "kind_four"}});
  EXPECT_EQ(out.find("kind_one"), std::string::npos);
  EXPECT_NE(out.find("\n[plugin.two]\nmodule = \"kind_two\"\n"), std::string::npos);
  EXPECT_NE(out.find("\n[plugin.cluster_kind]\nmodule = \"kind_four\"\n"), std::string::npos)
      << "the name is taken";
  EXPECT_EQ(out.find("secrets_vault"), std::string::npos);
}

TEST(FittedAgent, OfTheShippedFileHasAllThatWorks) {
  const std::string out = fitted(std::string(shipped_file("agent.toml")), {{"m", "kind_manifest"}});
  for (const char* table : {"[rpc.client.control]", "[plugin.cluster]", "[plugin.manifest]",
                            "[plugin.reporter]", "[plugin.applier]", "[plugin.watcher]"})
    EXPECT_NE(out.find(table), std::string::npos) << table;
  for (const char* other : {"kind_deployment", "kind_sentinel", "rpc.server", "leader"})
    EXPECT_EQ(out.find(other), std::string::npos) << other;
}

}  // namespace
}  // namespace davit::host
