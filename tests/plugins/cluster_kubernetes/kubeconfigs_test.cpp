// Several kubeconfigs as one, and kubeconfigs as managed clouds write them.
#include <gtest/gtest.h>

#include <map>

#include "kubeconfig.hpp"

namespace davit::cluster_kubernetes {
namespace {

Result<Secret> read_any(const std::string& path) {
  return Secret("-----BEGIN X----- of " + path);
}

Access good(const std::vector<KubeconfigFile>& files, const std::string& context = {}) {
  auto access = read_kubeconfig(files, context, read_any);
  EXPECT_TRUE(access.ok()) << access.error().message;
  return access.ok() ? std::move(*access) : Access();
}

std::string bad_exec(const std::string& members) {
  const std::string text =
      "current-context: x\nclusters: [{name: c, cluster: {server: 'https://h'}}]\n"
      "contexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {exec: {" +
      members + "}}}]\n";
  const auto access = read_kubeconfig({{"/k", text}}, {}, read_any);
  return access.ok() ? "ok" : access.error().message;
}

const KubeconfigFile first{"/one/config", R"(
clusters: [{name: c, cluster: {server: 'https://one', certificate-authority: ca.crt}}]
users: [{name: red, user: {token: one}}]
contexts: [{name: a, context: {cluster: c, user: red}}]
)"};
const KubeconfigFile second{"/two/config", R"(
current-context: b
clusters: [{name: c, cluster: {server: 'https://two', tls-server-name: two}}]
users: [{name: red, user: {token: two, as: jane}}, {name: blue, user: {exec: {
  apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login}}}]
contexts:
- {name: a, context: {cluster: c, user: blue}}
- {name: b, context: {cluster: c, user: blue}}
)"};

TEST(Kubeconfigs, TheFirstThatHasANameSaysWhatItIs) {
  const Access a = good({first, second}, "a");
  EXPECT_EQ(a.url, "https://one");
  EXPECT_EQ(a.tls_server_name, "") << "nothing of the second one's entry";
  EXPECT_EQ(a.token.view(), "one");
  EXPECT_EQ(a.as, Impersonation());
  EXPECT_EQ(a.source, "kubeconfig \"/one/config\", \"/two/config\", context \"a\"");
}

TEST(Kubeconfigs, PathsAreRelativeToTheFileThatNamesThem) {
  const Access b = good({first, second});
  EXPECT_EQ(b.ca, "-----BEGIN X----- of /one/ca.crt");
  EXPECT_EQ(b.exec->command, "/two/bin/login") << "the current context is the second file's";
  EXPECT_EQ(b.files, (std::vector<std::string>{"/one/config", "/two/config", "/one/ca.crt"}));
}

// What `aws eks update-kubeconfig` writes.
TEST(Kubeconfigs, OfEks) {
  const Access access = good({{"/k", R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTiBYLS0tLS0=
    server: https://0A1B.gr7.eu-central-1.eks.amazonaws.com
  name: arn:aws:eks:eu-central-1:111122223333:cluster/demo
contexts:
- context:
    cluster: arn:aws:eks:eu-central-1:111122223333:cluster/demo
    user: arn:aws:eks:eu-central-1:111122223333:cluster/demo
  name: arn:aws:eks:eu-central-1:111122223333:cluster/demo
current-context: arn:aws:eks:eu-central-1:111122223333:cluster/demo
kind: Config
preferences: {}
users:
- name: arn:aws:eks:eu-central-1:111122223333:cluster/demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [--region, eu-central-1, eks, get-token, --cluster-name, demo, --output, json]
      command: aws
      env:
      - name: AWS_PROFILE
        value: production
)"}});
  EXPECT_EQ(access.exec->command, "aws") << "one of $PATH";
  EXPECT_EQ(access.exec->args.size(), 8u);
  EXPECT_EQ(access.exec->env, (Pairs{{"AWS_PROFILE", "production"}}));
  EXPECT_EQ(access.exec->info, R"({"apiVersion":"client.authentication.k8s.io/v1beta1",)"
                               R"("kind":"ExecCredential","spec":{"interactive":false}})");
}

// What `gcloud container clusters get-credentials` writes.
TEST(Kubeconfigs, OfGke) {
  const Access access = good({{"/k", R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTiBYLS0tLS0=
    server: https://34.0.0.1
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: "1234", depth: 3, on: true, none: null}
  name: gke_p_z_demo
contexts: [{context: {cluster: gke_p_z_demo, user: gke_p_z_demo}, name: gke_p_z_demo}]
current-context: gke_p_z_demo
kind: Config
users:
- name: gke_p_z_demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: gke-gcloud-auth-plugin
      installHint: Install gke-gcloud-auth-plugin for use with kubectl by following
        https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl
      provideClusterInfo: true
)"}});
  EXPECT_TRUE(access.exec->install_hint.starts_with("Install gke-gcloud-auth-plugin for use"));
  EXPECT_EQ(access.exec->info,
            R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false,"cluster":{"server":"https://34.0.0.1",)"
            R"("certificate-authority-data":"LS0tLS1CRUdJTiBYLS0tLS0=",)"
            R"("config":{"audience":"1234","depth":3,"on":true,"none":null}}}})");
}

// What `kubelogin convert-kubeconfig -l workloadidentity` writes.
TEST(Kubeconfigs, OfAks) {
  const Access access = good({{"/k", R"(apiVersion: v1
clusters: [{cluster: {server: 'https://demo.hcp.westeurope.azmk8s.io:443'}, name: demo}]
contexts: [{context: {cluster: demo, user: clusterUser_group_demo}, name: demo}]
current-context: demo
users:
- name: clusterUser_group_demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      args: [get-token, --login, workloadidentity, --server-id, 6dae42f8-4368-4678-94ff]
      command: kubelogin
      env: null
      provideClusterInfo: false
      interactiveMode: Never
)"}});
  EXPECT_EQ(access.exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_TRUE(access.exec->env.empty());
}

TEST(Kubeconfigs, ATokenGoesBeforeAnExecPlugin) {
  const Access access = good({{"/k", R"(
current-context: x
clusters: [{name: c, cluster: {server: 'https://h'}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t, as: jane, as-uid: "7", as-groups: [dev],
  as-user-extra: {reason: [a, b]},
  exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: c}}}]
)"}});
  EXPECT_FALSE(access.exec);
  EXPECT_EQ(access.as, (Impersonation{"jane", "7", {"dev"}, {{"reason", "a"}, {"reason", "b"}}}));
}

TEST(Kubeconfigs, AnExecPluginThatCannotWorkIsSaid) {
  const std::string where = "kubeconfig \"/k\": user \"u\": exec: ";
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {v1 + "command: x, interactiveMode: Always",
       "interactiveMode is Always, and there is nobody to ask: use a login that needs no person, "
       "such as that of a service account"},
      {v1 + "command: x", "interactiveMode must be Never, IfAvailable or Always"},
      {v1 + "command: x, interactiveMode: maybe",
       "interactiveMode must be Never, IfAvailable or Always, not \"maybe\""},
      {v1 + "interactiveMode: Never", "command is missing"},
      {"apiVersion: client.authentication.k8s.io/v1alpha1, command: x",
       "apiVersion must be client.authentication.k8s.io/v1 or /v1beta1, not "
       "\"client.authentication.k8s.io/v1alpha1\""},
      {v1 + "command: x, interactiveMode: Never, args: eks", "args must be a list"},
      {v1 + "command: x, interactiveMode: Never, env: [{value: v}]",
       "env has an entry without a name"},
      {v1 + "command: x, interactiveMode: Never, provideClusterInfo: yes-please",
       "provideClusterInfo must be true or false"},
  };
  for (const auto& [members, expected] : rows) EXPECT_EQ(bad_exec(members), where + expected);
  EXPECT_EQ(bad_exec(v1 + "command: x, interactiveMode: IfAvailable"), "ok");
}

}  // namespace
}  // namespace davit::cluster_kubernetes
