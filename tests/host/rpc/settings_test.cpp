// [rpc.server.*] and [rpc.client.*]: what is read, and the words for what is wrong.
#include "rpc/settings.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/faults.hpp"

namespace davit::host {
namespace {

struct Read {
  RpcSettings settings;
  std::vector<std::string> faults;
};
Read read(const std::string& toml) {
  Faults faults;
  const Config config = Config::parse(toml, "s.toml", faults);
  Read out;
  out.settings = RpcSettings::read(config, faults);
  config.reject_unread(faults);
  out.faults = faults.lines();
  return out;
}

// All settings of a server.
constexpr const char* whole_server = R"([rpc.server.main]
listen = "0.0.0.0:7070"
transport = "grpc"
tls_certificate_file = "/c.pem"
tls_key_file = "/k.pem"
tls_client_ca_file = "/ca.pem"
keepalive_interval_ms = 5000
keepalive_timeout_ms = 600
retry_after_ms = 7
request_timeout_ms = 700
reflection = true
streams_max = 8
connections_max = 1000
connections_per_address_max = 100
calls_max = 31
header_bytes_max = 2048
idle_timeout_ms = 3000
health_watches_max = 20
health_watches_per_address_max = 10
memory_bytes_max = 9
[[rpc.server.main.token]]
name = "a"
file = "/a"
regions = ["r1", "r2"]
[[rpc.server.main.token]]
name = "b"
file = "/b"
role = "operator"
[rpc.server.op]
listen = "unix:/run/op.sock"
requests_bytes_max = 70000
allow_users = ["anna"]
allow_group = "ops"
)";
constexpr const char* whole_client = R"([rpc.client.control]
url = "https://control.example"
token_file = "/t"
ca_file = "/ca"
certificate_file = "/c"
key_file = "/k"
region = "r1"
platform = "aws"
agent = "a-1"
protocol = "ctrl.v1"
keepalive_interval_ms = 1000
keepalive_timeout_ms = 200
reconnect_backoff_max_ms = 300
response_bytes_max = 4096
)";

TEST(RpcSettings, EverythingOfAServerThatCanBeSet) {
  const Read r = read(whole_server);
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  ASSERT_EQ(r.settings.servers.size(), 2u);
  const ServerSettings& s = r.settings.servers[0];
  EXPECT_EQ(s.name, "main");
  EXPECT_EQ(s.listen_where, "s.toml:2");
  EXPECT_TRUE(s.tls());
  EXPECT_EQ(s.streams_max, 8);
  EXPECT_EQ(s.connections_max, 1'000);
  EXPECT_EQ(s.connections_per_address_max, 100);
  EXPECT_EQ(s.calls_max, 31);
  EXPECT_EQ(s.calls_per_address_max, 16);
  EXPECT_EQ(s.header_bytes_max, 2'048);
  EXPECT_EQ(s.idle_timeout.count(), 3'000);
  EXPECT_EQ(s.health_watches_max, 20);
  EXPECT_EQ(s.health_watches_per_address_max, 10);
  EXPECT_EQ(s.request_timeout.count(), 700);
  EXPECT_TRUE(s.reflection);
  EXPECT_EQ(s.memory_bytes_max, 9);
  EXPECT_EQ(s.retry_after.count(), 7);
  ASSERT_EQ(s.tokens.size(), 2u);
  EXPECT_EQ(s.tokens[0].role, "agent");
  EXPECT_EQ(s.tokens[0].regions, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ(s.tokens[1].role, "operator");
  EXPECT_EQ(r.settings.servers[1].unix_path(), "/run/op.sock");
  EXPECT_EQ(r.settings.servers[1].allow_group, "ops");
  EXPECT_EQ(r.settings.servers[1].requests_bytes_max, 70'000);
}

TEST(RpcSettings, EverythingOfAClientThatCanBeSet) {
  const Read r = read(whole_client);
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  ASSERT_EQ(r.settings.clients.size(), 1u);
  const ClientSettings& c = r.settings.clients[0];
  EXPECT_EQ(c.target(), "control.example:443");
  EXPECT_EQ(c.agent, "a-1");
  EXPECT_EQ(c.protocol, "ctrl.v1");
  EXPECT_EQ(c.reconnect_backoff_max.count(), 300);
}

TEST(RpcSettings, TheDefaultsAreThoseOfTheWire) {
  const Read r =
      read("[rpc.client.control]\nurl = \"http://c\"\ntoken_file = \"/t\"\nregion = \"r\"");
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  const ClientSettings& c = r.settings.clients[0];
  EXPECT_EQ(c.keepalive_interval.count(), 10'000);
  EXPECT_EQ(c.keepalive_timeout.count(), 5'000);
  EXPECT_EQ(c.reconnect_backoff_max.count(), 5'000);
  EXPECT_EQ(c.protocol, "davit.v1");
  EXPECT_FALSE(c.agent.empty());
}

TEST(RpcSettings, AListenerSpeaksConnectAndTakesTenThousandAgentsBehindOneAddress) {
  const Read r = read(
      "[rpc.server.m]\nlisten = \"h:1\"\n[[rpc.server.m.token]]\nname = \"a\"\nfile = \"/a\"\n"
      "regions = [\"eu-1\", \"Us_2.x\"]\n[rpc.server.op]\nlisten = \"unix:/op.sock\"");
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  const ServerSettings &tcp = r.settings.servers[0], &local = r.settings.servers[1];
  EXPECT_EQ(tcp.transport, "connect");
  EXPECT_EQ(tcp.connections_max, 20'000);
  EXPECT_EQ(tcp.connections_per_address_max, 10'000);
  EXPECT_EQ(local.transport, "connect");
  EXPECT_EQ(local.connections_max, 400);
}

TEST(RpcSettings, ARoleIsAnyWordAndOnlyAgentsNeedRegions) {
  const Read r = read(
      "[rpc.server.m]\nlisten = \"h:1\"\n"
      "[[rpc.server.m.token]]\nname = \"a\"\nfile = \"/a\"\nrole = \"auditor\"\n"
      "[[rpc.server.m.token]]\nname = \"b\"\nfile = \"/b\"\nrole = \"auditor_2\"\n"
      "regions = [\"eu\"]\n");
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  EXPECT_EQ(r.settings.servers[0].tokens[0].role, "auditor");
  EXPECT_EQ(r.settings.servers[0].tokens[0].where, "s.toml:6");
  EXPECT_EQ(r.settings.servers[0].tokens[1].regions, std::vector<std::string>{"eu"});
}

TEST(RpcSettings, NothingAtAllIsFine) {
  const Read r = read("");
  EXPECT_EQ(r.faults, std::vector<std::string>{});
  EXPECT_TRUE(r.settings.servers.empty());
}

TEST(RpcSettings, TargetsOfUrls) {
  const auto target = [](const std::string& url) {
    ClientSettings c;
    c.url = url;
    return c.target();
  };
  EXPECT_EQ(target("http://a"), "a:80");
  EXPECT_EQ(target("http://a/"), "a:80");
  EXPECT_EQ(target("https://a:8443"), "a:8443");
  EXPECT_EQ(target("http://[::1]"), "[::1]:80");
  EXPECT_EQ(target("http://[::1]:7070"), "[::1]:7070");
  EXPECT_EQ(target("unix:/run/x"), "unix:/run/x");
  for (const char* bad : {"http://", "http://a/b", "http://u@a", "http://a:port", "http://a:99999",
                          "http://a b", "http://::1", "http://::1:7070", "http://[::1"}) {
    EXPECT_EQ(target(bad), "") << bad;
  }
}

struct Wrong {
  const char* toml;
  const char* fault;
};
std::ostream& operator<<(std::ostream& out, const Wrong& w) {
  return out << w.toml;
}

constexpr const char* token =
    "\n[[rpc.server.m.token]]\nname = \"a\"\nfile = \"/a\"\nregions = [\"r\"]\n";
constexpr const char* agent = "region = \"r\"\ntoken_file = \"/t\"\n";

class WrongServer : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongServer, IsSaidWhere) {
  const Read r = read(std::string("[rpc.server.m]\n") + GetParam().toml + token);
  ASSERT_FALSE(r.faults.empty());
  EXPECT_EQ(r.faults[0], GetParam().fault);
  EXPECT_EQ(r.faults.size(), 1u) << r.faults[1];
}
INSTANTIATE_TEST_SUITE_P(
    RpcSettings, WrongServer,
    ::testing::Values(
        Wrong{"", "s.toml:1: rpc.server.m: key \"listen\": is missing (a string)"},
        Wrong{"listen = 7070", "s.toml:2: rpc.server.m.listen: must be a string"},
        Wrong{"listen = \"7070\"",
              "s.toml:2: rpc.server.m.listen: must be \"host:port\" or \"unix:/path\""},
        Wrong{"listen = \"h:70700\"",
              "s.toml:2: rpc.server.m.listen: must be \"host:port\" or \"unix:/path\""},
        Wrong{"listen = \"h:1\"\nstreams_max = 0",
              "s.toml:3: rpc.server.m.streams_max: must be between 1 and 1000000, not 0"},
        Wrong{"listen = \"h:1\"\ntransport = \"grpc\"\ngzip = true",
              "s.toml:4: rpc.server.m.gzip: needs transport = \"connect\""},
        Wrong{"listen = \"h:1\"\ntransport = \"connect\"\nmemory_bytes_max = 1000",
              "s.toml:4: rpc.server.m.memory_bytes_max: needs transport = \"grpc\""},
        Wrong{"listen = \"h:1\"\ntransport = \"grpc\"\nrequests_bytes_max = 1000000",
              "s.toml:4: rpc.server.m.requests_bytes_max: needs transport = \"connect\""},
        Wrong{"listen = \"h:1\"\nrequests_bytes_max = 1000",
              "s.toml:3: rpc.server.m.requests_bytes_max: must be between 65536 and "
              "1099511627776, not 1000"},
        Wrong{"listen = \"h:1\"\ntransport = \"http\"",
              "s.toml:3: rpc.server.m.transport: must be one of \"grpc\", \"connect\", not "
              "\"http\""},
        Wrong{"listen = \"h:1\"\nrole_without_token = \"pod\"",
              "s.toml:3: rpc.server.m.role_without_token: every caller of this server has the "
              "role, so no token is asked for: leave out [[rpc.server.m.token]] and "
              "agent_tokens_dir, or give tokens a server of their own"},
        Wrong{"listen = \"h:1\"\nrole_without_token = \"\"",
              "s.toml:3: rpc.server.m.role_without_token: must be a lower_snake_case word that a "
              "plugin's methods ask for"},
        Wrong{"listen = \"h:1\"\nlissten = \"h:1\"",
              "s.toml:3: rpc.server.m.lissten: unknown key; did you mean \"listen\"?"},
        Wrong{"listen = \"h:1\"\ntls_key_file = \"/k\"",
              "s.toml:3: rpc.server.m.tls_key_file: tls_certificate_file and tls_key_file go "
              "together"},
        Wrong{"listen = \"h:1\"\ntls_client_ca_file = \"/k\"",
              "s.toml:3: rpc.server.m.tls_client_ca_file: needs tls_certificate_file and "
              "tls_key_file"}));

class WrongAnything : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongAnything, IsSaidWhere) {
  const Read r = read(GetParam().toml);
  ASSERT_FALSE(r.faults.empty());
  EXPECT_EQ(r.faults[0], GetParam().fault);
}
INSTANTIATE_TEST_SUITE_P(
    RpcSettings, WrongAnything,
    ::testing::Values(
        Wrong{"[rpc.server.m]\nlisten = \"h:1\"",
              "s.toml:1: rpc.server.m: key \"token\": a TCP listener needs at least one "
              "[[rpc.server.m.token]], or agent_tokens_dir"},
        Wrong{
            "[rpc.server.m]\nlisten = \"h:1\"\n[[rpc.server.m.token]]\nname = \"a\"\nfile = \"/a\"",
            "s.toml:3: rpc.server.m.token[0]: key \"regions\": an agent's token must name at least "
            "one region "
            "(\"*\": every region)"},
        Wrong{"[rpc.server.m]\nlisten = \"h:1\"\n[[rpc.server.m.token]]\nname = \"a\"\nfile = "
              "\"/a\"\nrole = \"Root\"\n"
              "regions = [\"r\"]",
              "s.toml:6: rpc.server.m.token[0].role: must be a lower_snake_case word, such as "
              "\"agent\" or \"operator\""},
        Wrong{"[rpc.server.m]\nlisten = \"h:1\"\nrole_without_token = \"agent\"",
              "s.toml:3: rpc.server.m.role_without_token: the role \"agent\" takes a token: "
              "[[rpc.server.m.token]]"},
        Wrong{"[rpc.server.m]\nlisten = \"h:1\"\nrole_without_token = \"operator\"",
              "s.toml:3: rpc.server.m.role_without_token: the role \"operator\" takes a token: "
              "[[rpc.server.m.token]]"},
        Wrong{"[rpc.server.m]\nlisten = \"h:1\"\nrole_without_token = \"pod\"\n"
              "agent_tokens_dir = \"/a\"",
              "s.toml:3: rpc.server.m.role_without_token: every caller of this server has the "
              "role, so no token is asked for: leave out [[rpc.server.m.token]] and "
              "agent_tokens_dir, or give tokens a server of their own"},
        Wrong{"[rpc.server.m]\nlisten = \"unix:/s\"\nagent_tokens_dir = \"/a\"",
              "s.toml:3: rpc.server.m.agent_tokens_dir: unknown key"},
        Wrong{"[rpc.server.m]\nlisten = \"unix:/s\"\nrole_without_token = \"pod\"",
              "s.toml:3: rpc.server.m.role_without_token: unknown key"},
        Wrong{"[rpc.server.m]\nlisten = \"unix:op.sock\"",
              "s.toml:2: rpc.server.m.listen: a Unix socket needs an absolute path"},
        Wrong{"[rpc.server.m]\nlisten = \"unix:/op.sock\"\ntls_key_file = \"/k\"",
              "s.toml:3: rpc.server.m.tls_key_file: unknown key"},
        Wrong{"[rpc.server]\nm = 1", "s.toml:2: rpc.server.m: must be a table"},
        Wrong{"[rpc.sever.m]\nlisten = \"h:1\"",
              "s.toml:1: rpc.sever: unknown key; did you mean \"server\"?"}));

class WrongRegions : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongRegions, IsSaidWhere) {
  const Read r =
      read(std::string("[rpc.server.m]\nlisten = \"h:1\"\n[[rpc.server.m.token]]\nname = \"a\"\n"
                       "file = \"/a\"\n") +
           GetParam().toml);
  ASSERT_EQ(r.faults.size(), 1u);
  const std::string front = ": rpc.server.m.token[0].regions: ";
  const size_t at = r.faults[0].find(front);
  ASSERT_NE(at, std::string::npos) << r.faults[0];
  EXPECT_EQ(r.faults[0].substr(at + front.size()), GetParam().fault);
}
INSTANTIATE_TEST_SUITE_P(
    RpcSettings, WrongRegions,
    ::testing::Values(
        Wrong{"role = \"operator\"\nregions = [\"eu\"]",
              "an operator's token is for every region: leave it out, or say [\"*\"]"},
        Wrong{"regions = [\"\"]", "a region's name is empty"},
        Wrong{"regions = [\"eu\", \"*\"]", "\"*\" is every region: name it alone"},
        Wrong{"regions = [\"eu-*\"]",
              "\"eu-*\" is no region: there are no patterns, only names and \"*\" alone for every "
              "region"},
        Wrong{"regions = [\"a b\"]",
              "\"a b\" is no region: a name has letters, digits, \"-\", \"_\" and \".\""},
        Wrong{
            "regions = [\"0123456789012345678901234567890123456789012345678901234567890123\"]",
            "\"012345678901234567890123456789012345678901234567890123456789012...\" is no region: "
            "a name has at most 63 characters"}));

class WrongClient : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongClient, IsSaidWhere) {
  const Read r = read(std::string("[rpc.client.c]\n") + agent + GetParam().toml);
  ASSERT_FALSE(r.faults.empty());
  EXPECT_EQ(r.faults[0], GetParam().fault);
  EXPECT_EQ(r.faults.size(), 1u) << r.faults[1];
}
INSTANTIATE_TEST_SUITE_P(
    RpcSettings, WrongClient,
    ::testing::Values(
        Wrong{"", "s.toml:1: rpc.client.c: key \"url\": is missing (a string)"},
        Wrong{"url = \"ftp://x\"",
              "s.toml:4: rpc.client.c.url: must start with http://, https:// or unix:/"},
        Wrong{"url = \"ftp://x\"\nca_file = \"/ca\"",
              "s.toml:4: rpc.client.c.url: must start with http://, https:// or unix:/"},
        Wrong{"url = \"http://x/path\"",
              "s.toml:4: rpc.client.c.url: must be http(s)://host or http(s)://host:port, no more"},
        Wrong{"url = \"http://x\"\nprotocol = \"v2\"",
              "s.toml:5: rpc.client.c.protocol: must be one of \"davit.v1\", \"ctrl.v1\", not "
              "\"v2\""},
        Wrong{"url = \"http://x\"\nca_file = \"/ca\"",
              "s.toml:5: rpc.client.c.ca_file: needs an https:// url"},
        Wrong{"url = \"https://x\"\nkey_file = \"/k\"",
              "s.toml:5: rpc.client.c.key_file: certificate_file and key_file go together"},
        Wrong{"url = \"http://x\"\nagent = \"two words\"",
              "s.toml:5: rpc.client.c.agent: must be printable ASCII without spaces"}));

}  // namespace
}  // namespace davit::host
