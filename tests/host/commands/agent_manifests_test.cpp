#include "commands/agent_manifests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "commands/yaml.hpp"

namespace davit::host {
namespace {

namespace json = boost::json;

AgentConfiguration configuration() {
  AgentConfiguration out;
  out.files = {{"10-agent.toml", "[host]\n# of \"all\"\nlog_level = 'info'\n"},
               {"20-pod.toml", "[host]\nstate_dir = \"/var/lib/davit\"\n"}};
  out.ca = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n";
  out.region = "eu-1";
  out.rights = {
      json::parse(
          R"({"kind":"ClusterRole","metadata":{"name":"a"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}]})"),
      json::parse(
          R"({"kind":"Role","metadata":{"name":"b","namespace":"kube-system"},"rules":[{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create"]}]})"),
      json::parse(
          R"({"kind":"Role","metadata":{"name":"c","namespace":"kube-system"},"rules":[{"apiGroups":[""],"resources":["events"],"verbs":["create"]}]})")};
  return out;
}

AgentInstallation installation() {
  AgentInstallation out;
  out.image = "registry.example/davit:7";
  out.token = "s3cret";
  return out;
}

std::string text_at(const json::value& value, const char* pointer) {
  json::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found == nullptr
             ? "absent"
             : (found->is_string() ? std::string(found->get_string()) : json::serialize(*found));
}

const json::value& of_kind(const std::vector<json::value>& all, const std::string& kind) {
  static const json::value none;
  for (const auto& one : all)
    if (text_at(one, "/kind") == kind) return one;
  return none;
}

TEST(AgentManifests, AreWhatTheGoldenFileShows) {
  const std::string text = manifests_text(agent_manifests(configuration(), installation()));
  const std::string path = AGENT_MANIFESTS;
  if (std::getenv("DAVIT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(AgentManifests, AreReadBackAsTheyAre) {
  const auto manifests = agent_manifests(configuration(), installation());
  const auto read = read_yaml(manifests_text(manifests), "m");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), manifests.size());
  for (size_t n = 0; n < manifests.size(); ++n) {
    EXPECT_EQ(json::serialize((*read)[n].value), json::serialize(manifests[n]));
  }
}

TEST(AgentManifests, BindEachRoleToTheAgentsAccountAlone) {
  std::set<std::string> roles, bound;
  for (const auto& one : agent_manifests(configuration(), installation())) {
    const std::string kind = text_at(one, "/kind");
    const std::string place = text_at(one, "/metadata/namespace") + " ";
    if (kind.ends_with("Role")) roles.insert(place + kind + " " + text_at(one, "/metadata/name"));
    if (!kind.ends_with("RoleBinding")) continue;
    bound.insert(place + text_at(one, "/roleRef/kind") + " " + text_at(one, "/roleRef/name"));
    EXPECT_EQ(text_at(one, "/subjects"),
              R"([{"kind":"ServiceAccount","name":"davit-agent","namespace":"davit-system"}])");
  }
  EXPECT_EQ(roles,
            (std::set<std::string>{"absent ClusterRole davit-agent", "kube-system Role davit-agent",
                                   "kube-system Role davit-agent-2"}));
  EXPECT_EQ(bound, roles);
}

TEST(AgentManifests, HaveNoSecretWhenOneIsThere) {
  AgentInstallation i = installation();
  i.token_secret = "mine";
  const auto all = agent_manifests(configuration(), i);
  EXPECT_TRUE(of_kind(all, "Secret").is_null());
  EXPECT_EQ(text_at(of_kind(all, "Deployment"), "/spec/template/spec/volumes/1/secret/secretName"),
            "mine");
}

TEST(AgentManifests, HaveNoProbesWithoutAPort) {
  AgentInstallation i = installation();
  i.metrics_port = 0;
  const auto deployment = of_kind(agent_manifests(configuration(), i), "Deployment");
  const json::value container = deployment.at_pointer("/spec/template/spec/containers/0");
  for (const char* key : {"ports", "readinessProbe", "livenessProbe"})
    EXPECT_FALSE(container.as_object().contains(key)) << key;
}

TEST(AgentManifests, RollThePodWhenItsFilesChangeAndNotWithItsToken) {
  const auto hash = [](const AgentConfiguration& c, const AgentInstallation& i) {
    return text_at(of_kind(agent_manifests(c, i), "Deployment"),
                   "/spec/template/metadata/annotations/davit.dev~1configuration");
  };
  const std::string before = hash(configuration(), installation());
  AgentConfiguration changed = configuration();
  changed.files[0].second += "# more\n";
  EXPECT_NE(hash(changed, installation()), before);
  changed = configuration();
  changed.ca += "more\n";
  EXPECT_NE(hash(changed, installation()), before);
  AgentInstallation rotated = installation();
  rotated.token = "another";
  EXPECT_EQ(hash(configuration(), rotated), before);
}

TEST(AgentManifests, QuoteWhatKubectlWouldReadAsAnotherType) {
  const json::value value = json::parse(
      R"({"a":"yes","b":"Off","c":"12e4","d":"1:30","e":"","f":"plain","g":"a\nb\n","h":" a\nb\n","i":"a\u0001\n"})");
  EXPECT_EQ(to_yaml(value, YamlTexts::in_blocks),
            "a: \"yes\"\nb: \"Off\"\nc: \"12e4\"\nd: \"1:30\"\ne: \"\"\nf: plain\ng: |\n  a\n  b\n"
            "\nh: \" a\\nb\\n\"\ni: \"a\\x01\\n\"\n");
}

}  // namespace
}  // namespace davit::host
