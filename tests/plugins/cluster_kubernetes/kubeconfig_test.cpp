#include "kubeconfig.hpp"

#include <gtest/gtest.h>

#include <map>

namespace davit::cluster_kubernetes {
namespace {

// "-----BEGIN X-----" in base64.
const std::string pem64 = "LS0tLS1CRUdJTiBYLS0tLS0=";
const std::string pem = "-----BEGIN X-----";

const std::map<std::string, std::string> files = {{"/etc/kube/ca.crt", pem},
                                                  {"/abs/token", "from-file"},
                                                  {"/etc/kube/empty", ""},
                                                  {"/etc/kube/no-pem", "hello"}};

Result<Secret> read_file(const std::string& path) {
  auto it = files.find(path);
  if (it == files.end()) return Error{Code::not_found, path + ": no such file or directory"};
  return Secret(it->second);
}

std::string config(std::string cluster, std::string user, std::string current = "main") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + current +
         "\nclusters:\n- name: c\n  cluster: {" + cluster + "}\nusers:\n- name: u\n  user: {" +
         user +
         "}\ncontexts:\n- name: main\n  context: {cluster: c, user: u}\n- name: other\n  context: "
         "{cluster: x, user: u}\n";
}
Result<Access> parse(const std::string& text, std::string context = {}) {
  return read_kubeconfig({{"/etc/kube/config", text}}, context, read_file);
}
std::string message(const std::string& text, std::string context = {}) {
  auto r = parse(text, context);
  return r.ok() ? "ok" : r.error().message;
}

TEST(Kubeconfig, TakesClusterAndUserOfTheCurrentContext) {
  auto r =
      parse(config("server: 'https://h:6443/', certificate-authority: ca.crt, tls-server-name: api",
                   "client-certificate-data: " + pem64 + ", client-key-data: " + pem64));
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->url, "https://h:6443");
  EXPECT_EQ(r->ca, pem);
  EXPECT_EQ(r->certificate, pem);
  EXPECT_EQ(r->key.view(), pem);
  EXPECT_EQ(r->tls_server_name, "api");
  EXPECT_FALSE(r->insecure);
  EXPECT_EQ(r->source, "kubeconfig \"/etc/kube/config\", context \"main\"");
}

TEST(Kubeconfig, TakesTokens) {
  EXPECT_EQ(parse(config("server: 'https://h'", "token: abc"))->token.view(), "abc");
  EXPECT_EQ(parse(config("server: 'https://h'", "tokenFile: /abs/token"))->token_file,
            "/abs/token");
  EXPECT_TRUE(parse(config("server: 'https://h', insecure-skip-tls-verify: true", ""))->insecure);
}

TEST(Kubeconfig, EveryFaultIsOneLineThatNamesIt) {
  const std::string ok = "server: 'https://h'";
  const std::string k = "kubeconfig \"/etc/kube/config\": ";
  struct Row {
    std::string text, context, expected;
  };
  const std::vector<Row> rows = {
      {config(ok, ""), "foo", k + "context \"foo\" does not exist (there are: main, other)"},
      {config(ok, "", "\"\""), "", k + "it has no current-context; name one with `context`"},
      {config(ok, ""), "other", k + "cluster \"x\" does not exist (there are: c)"},
      {config("", ""), "", k + "cluster \"c\": server is missing"},
      {config("server: 'ftp://h'", ""), "",
       k + "cluster \"c\": server \"ftp://h\" is not a http or https URL"},
      {config("server: 'https://h x'", ""), "",
       k + "cluster \"c\": server \"https://h x\" is not a http or https URL"},
      {config("server: [a]", ""), "", k + "cluster \"c\": server must be a string"},
      {config(ok + ", certificate-authority: gone.crt", ""), "",
       k + "cluster \"c\": certificate-authority: /etc/kube/gone.crt: no such file or directory"},
      {config(ok + ", certificate-authority: no-pem", ""), "",
       k + "cluster \"c\": certificate-authority \"/etc/kube/no-pem\" holds no PEM"},
      {config(ok + ", certificate-authority-data: '%%'", ""), "",
       k + "cluster \"c\": certificate-authority-data is not base64"},
      {config(ok + ", insecure-skip-tls-verify: perhaps", ""), "",
       k + "cluster \"c\": insecure-skip-tls-verify must be true or false"},
      {config(ok, "client-certificate-data: " + pem64), "",
       k + "user \"u\": client-certificate and client-key go together, and one is missing"},
      {config(ok, "tokenFile: gone"), "",
       k + "user \"u\": tokenFile: /etc/kube/gone: no such file or directory"},
      {config(ok, "tokenFile: empty"), "",
       k + "user \"u\": tokenFile \"/etc/kube/empty\" is empty"},
      {config(ok, "token: \"a\\nb\""), "",
       k + "user \"u\": token has characters that no token has"},
      {config(ok, "username: me, password: x"), "",
       k + "user \"u\": username is not supported: give a token, a tokenFile, a client certificate "
           "or exec"},
      {config(ok, "as-uid: x"), "", k + "user \"u\": as: a uid, groups and extras need a user"},
      {config(ok, "as: \"a\\nb\""), "",
       k + "user \"u\": as: it has a value that is empty or has control characters"},
      {config(ok + ", proxy-url: 'ftp://p'", ""), "",
       k + "cluster \"c\": proxy-url must be a http, https or socks5 URL"},
      {"just text", "", k + "it is not a kubeconfig"},
      {"", "", k + "it is not a kubeconfig"},
      {"a: [", "", k + "line 1: end of sequence flow not found"},
      {"kind: Config", "main", k + "context \"main\" does not exist (there are none)"},
  };
  for (const auto& row : rows) EXPECT_EQ(message(row.text, row.context), row.expected) << row.text;
}

TEST(InCluster, ReadsTheServiceAccount) {
  const std::map<std::string, std::string> env = {{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                                  {"KUBERNETES_SERVICE_PORT", "443"}};
  auto get = [&](const std::string& n) { return env.contains(n) ? env.at(n) : std::string(); };
  auto read = [](const std::string& path) -> Result<Secret> { return Secret(path); };
  auto r = in_cluster_access(get, read);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->url, "https://[fd00::1]:443");
  EXPECT_EQ(r->token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(r->ca, "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  EXPECT_FALSE(in_cluster_access([](const std::string&) { return std::string(); }, read).ok());
  EXPECT_FALSE(in_cluster_access(get, read_file).ok());
}

}  // namespace
}  // namespace davit::cluster_kubernetes
