// Values that are resolved just before the Secret that has them is applied, and that are nowhere
// else.
#include <gtest/gtest.h>

#include <davit/base64.hpp>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

testing::Config with_secrets() {
  testing::Config c;
  c.set({"secrets", "vault"});
  return c;
}
testing::Config as_secrets() {
  testing::Config c;
  c.set({"secrets_as", "secret"});
  return c;
}
testing::Config with_pull_secret() {
  testing::Config pull{{"name", "registry"}, {"ref", "registries/depot"}, {"field", "config"}};
  testing::Config c = as_secrets();
  c.set({"pull_secrets", std::vector<testing::Config>{pull}});
  return c;
}

class SecretsWorld : public World {
 public:
  explicit SecretsWorld(const testing::Config& applier = with_secrets(),
                        const testing::Config& deployments = as_secrets())
      : World(applier, deployments) {
    vault.plaintexts = {{"c1", "hunter2"}, {"c2", "correct horse"}};
    begin(true);
  }
  void apply_with(const std::string& name, Version version,
                  const std::map<std::string, std::string>& secrets) {
    ApplyOptions o;
    o.secrets = secrets;
    World::apply(name, version, o);
    wait();
  }
  json::value object(const std::string& resource, const std::string& name) {
    const auto r = call(DAVIT_VERB_GET, resource, "acme", name, "");
    return r.code == Code::ok ? json::parse(r.body) : json::value();
  }
  // What the pods of "web" get; "none": no such value.
  std::string value(const std::string& variable, const std::string& name = "web") {
    const json::value secret = object("secrets", "deploy-d-" + name);
    boost::system::error_code none;
    const json::value* found = secret.find_pointer("/data/" + variable, none);
    return found == nullptr ? "none" : from_base64(found->as_string()).value_or("no base64");
  }
  std::string template_hash() {
    return std::string(
        replica_set("web")
            .at_pointer("/spec/template/metadata/annotations/davit.dev~1template-hash")
            .as_string());
  }
};

TEST(SecretValues, AreInASecretThatThePodsOfTheirWorkloadGet) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}, {"PHRASE", "c2"}});
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
  EXPECT_EQ(w.value("PHRASE"), "correct horse");
  EXPECT_TRUE(w.vault.asked.contains("e c1"));
  const json::value rs = w.replica_set("web");
  EXPECT_EQ(rs.at_pointer("/spec/template/spec/serviceAccountName"), "deploy-d-web");
  EXPECT_EQ(rs.at_pointer("/spec/template/spec/containers/0/envFrom/0/secretRef/name"),
            "deploy-d-web");
  for (const char* resource : {"secrets", "serviceaccounts"}) {
    const json::value object = w.object(resource, "deploy-d-web");
    ASSERT_TRUE(object.is_object()) << resource;
    EXPECT_EQ(object.at_pointer("/metadata/ownerReferences/0/uid"), rs.at_pointer("/metadata/uid"));
  }
}

TEST(SecretValues, AreNowhereElse) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.call(DAVIT_VERB_MERGE, "secrets", "acme", "deploy-d-web",
         R"({"metadata":{"annotations":{"a":"b"}}})");
  w.wait();
  w.restart();
  w.begin(true);
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  ASSERT_FALSE(w.kind().inputs.empty());
  for (const std::string& input : w.kind().inputs) {
    EXPECT_FALSE(contains(input, "hunter2"));
    EXPECT_FALSE(contains(input, base64("hunter2")));
  }
  for (const auto& [id, status] : w.statuses)
    EXPECT_FALSE(contains(status.message + status.detail, "hunter2"));
}

TEST(SecretValues, AreNotResolvedWhileNothingChanges) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.wait(10s);
  const size_t asked = w.vault.asked.size();
  w.wait(200s);  // resyncs
  w.restart();
  w.begin(true);
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.wait(200s);
  EXPECT_EQ(w.vault.asked.size(), asked);
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
}

TEST(SecretValues, OfANewCiphertextAreNewAndSoAreThePods) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  const std::string before = w.template_hash();
  w.apply_with("web", 11, {{"PASSWORD", "c2"}});
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.value("PASSWORD"), "correct horse");
  EXPECT_NE(w.template_hash(), before);
  w.apply_with("web", 12, {{"OTHER", "c2"}});
  EXPECT_EQ(w.value("PASSWORD"), "none");
  EXPECT_EQ(w.value("OTHER"), "correct horse");
}

TEST(SecretValues, ThatSomebodyChangesArePutBack) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.wait(10s);
  for (const std::string& patch : {R"({"data":{"PASSWORD":")" + base64("changed") + R"("}})",
                                   std::string(R"({"data":{"PASSWORD":null}})")}) {
    const auto r = w.call(DAVIT_VERB_MERGE, "secrets", "acme", "deploy-d-web", patch,
                          {{"fieldManager", "kubectl"}});
    ASSERT_EQ(r.code, Code::ok) << r.message;
    w.wait(60s);
    EXPECT_EQ(w.value("PASSWORD"), "hunter2") << patch;
  }
  EXPECT_EQ(w.count("repairs"), 2);
}

TEST(SecretValues, ThatAreDeletedComeBack) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.wait(10s);
  w.call(DAVIT_VERB_DELETE, "secrets", "acme", "deploy-d-web", "");
  w.wait(60s);
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
}

TEST(SecretValues, ThatCannotBeResolvedNowDelayTheirRecordAndNoOther) {
  SecretsWorld w;
  w.vault.away = Error{Code::unavailable, "the vault does not answer", "e"};
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.apply_with("api", 11, {});
  w.wait(5s);
  EXPECT_EQ(w.outcome(10), "");
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.issues["web"], "delayed");
  EXPECT_TRUE(contains(w.reasons["web"],
                       "secrets acme/deploy-d-web: the value of PASSWORD: e: the vault does not "
                       "answer"))
      << w.reasons["web"];
  EXPECT_EQ(w.replica_sets(), "api") << "no pods without their variables";
  w.vault.away.reset();
  w.wait(120s);
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
  EXPECT_FALSE(w.issues.contains("web"));
}

TEST(SecretValues, ThatCanNeverBeResolvedParkTheirRecord) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}, {"ZETA", "of another key"}});
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "the value of ZETA: e: it was made with another key"))
      << w.reasons["web"];
  EXPECT_FALSE(contains(w.reasons["web"], "of another key\""));
  w.apply_with("web", 11, {{"PASSWORD", "c1"}});
  EXPECT_EQ(w.outcome(11), "done");
}

// A new version that cannot be resolved leaves what runs, with the values that it has.
TEST(SecretValues, OfAVersionThatCannotBeResolvedChangeNothing) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  const std::string before = w.template_hash();
  w.apply_with("web", 11, {{"PASSWORD", "nobody's"}});
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
  EXPECT_EQ(w.template_hash(), before);
}

TEST(SecretValues, WithoutAnInstanceParkTheirRecordAndNameTheSetting) {
  SecretsWorld w{testing::Config()};
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "the applier's setting `secrets` names no instance"));
}

TEST(SecretValues, WhoseTimeIsOverAreResolvedAnew) {
  SecretsWorld w;
  w.vault.valid_until_unix_ms = w.host().host().unix_ms() + 100'000;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.wait(10s);
  const size_t asked = w.vault.asked.size();
  w.vault.plaintexts["c1"] = "another";
  w.wait(60s);
  EXPECT_EQ(w.value("PASSWORD"), "hunter2");
  w.vault.valid_until_unix_ms = 0;
  w.wait(60s);
  EXPECT_EQ(w.value("PASSWORD"), "another");
  w.wait(200s);
  EXPECT_EQ(w.vault.asked.size(), asked + 1);
  EXPECT_EQ(w.count("repairs"), 0);
}

TEST(SecretValues, GoWithTheirWorkload) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.remove("web", 11);
  w.wait(10s);
  EXPECT_TRUE(w.object("secrets", "deploy-d-web").is_null());
  EXPECT_TRUE(w.object("serviceaccounts", "deploy-d-web").is_null());
  EXPECT_TRUE(w.statuses["d_web"].gone);
}

const std::string no_secrets = "403 Forbidden: cannot watch resource \"secrets\"";

// The agent is blind for Secrets: it reads each one before it writes it.
TEST(SecretValues, ChangeThoughTheWatchOfSecretsIsRefused) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.end(1, 10);
  w.front().stop_showing("secrets", DAVIT_WATCH_REFUSED, no_secrets);
  w.wait();
  EXPECT_EQ(w.issues["secrets"], "blind");
  EXPECT_TRUE(contains(w.reasons["secrets"], no_secrets)) << w.reasons["secrets"];
  w.apply_with("web", 11, {{"PASSWORD", "c2"}});
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.value("PASSWORD"), "correct horse");
}

// It cannot know whether a Secret is left, so a deleted workload is not gone yet.
TEST(SecretValues, OfADeletedWorkloadAreNotSaidToBeGoneUnseen) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.end(1, 10);
  w.front().stop_showing("secrets", DAVIT_WATCH_REFUSED, no_secrets);
  w.wait();
  w.remove("web", 11);
  w.wait();
  EXPECT_EQ(w.outcome(11), "");
  EXPECT_FALSE(w.statuses["d_web"].gone);
  w.front().show("secrets");
  w.wait();
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_TRUE(w.statuses["d_web"].gone);
  EXPECT_EQ(w.value("PASSWORD"), "none");
}

TEST(SecretValues, GoWhenTheWorkloadHasNoneAnyMore) {
  SecretsWorld w;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  w.apply_with("web", 11, {});
  w.wait(120s);
  EXPECT_TRUE(w.object("secrets", "deploy-d-web").is_null());
  EXPECT_EQ(w.replica_set("web").at_pointer("/spec/template/spec/serviceAccountName"), "default");
}

TEST(SecretValues, OfAnotherRecordsSecretAreLeftAlone) {
  SecretsWorld w;
  w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
  const auto r =
      w.call(DAVIT_VERB_CREATE, "secrets", "acme", "",
             R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"deploy-d-web","labels":)"
             R"({"davit.dev/region":"us"}},"data":{"PASSWORD":"b3RoZXI="}})");
  ASSERT_EQ(r.code, Code::ok) << r.message;
  w.apply_with("web", 10, {{"PASSWORD", "c1"}});
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_EQ(w.value("PASSWORD"), "other");
}

std::string docker_config(SecretsWorld& w) {
  const json::value secret = w.object("secrets", "registry");
  boost::system::error_code none;
  const json::value* found = secret.find_pointer("/data/.dockerconfigjson", none);
  return found == nullptr ? "none" : from_base64(found->as_string()).value_or("no base64");
}

TEST(PullSecrets, AreSharedByTheWorkloadsOfANamespace) {
  SecretsWorld w(with_secrets(), with_pull_secret());
  w.vault.plaintexts["registries/depot config"] = R"({"auths":{}})";
  w.apply_with("web", 10, {});
  w.apply_with("api", 11, {});
  EXPECT_EQ(w.outcome(10) + w.outcome(11), "donedone");
  EXPECT_EQ(docker_config(w), R"({"auths":{}})");
  EXPECT_EQ(w.object("secrets", "registry").at("type"), "kubernetes.io/dockerconfigjson");
  EXPECT_EQ(w.replica_set("web").at_pointer("/spec/template/spec/imagePullSecrets/0/name"),
            "registry");
  EXPECT_EQ(w.vault.asked.size(), 1u) << "the second workload finds it";
  w.wait(200s);
  EXPECT_EQ(w.vault.asked.size(), 1u);
  w.remove("web", 12);
  w.wait(10s);
  EXPECT_EQ(docker_config(w), R"({"auths":{}})") << "api needs it";
}

TEST(PullSecrets, ThatSomebodyChangesArePutBack) {
  SecretsWorld w(with_secrets(), with_pull_secret());
  w.vault.plaintexts["registries/depot config"] = R"({"auths":{}})";
  w.apply_with("web", 10, {});
  w.call(DAVIT_VERB_MERGE, "secrets", "acme", "registry",
         R"({"data":{".dockerconfigjson":"e30="}})", {{"fieldManager", "kubectl"}});
  w.wait();
  EXPECT_EQ(docker_config(w), R"({"auths":{}})");
}

// No record owns it. One of those that share it puts it right, and not only at a resync.
TEST(PullSecrets, ThatSomebodyDeletesComeBackThoughTheFirstWorkloadIsGone) {
  SecretsWorld w(with_secrets(), with_pull_secret());
  w.vault.plaintexts["registries/depot config"] = R"({"auths":{}})";
  w.apply_with("web", 10, {});
  w.apply_with("api", 11, {});
  w.call(DAVIT_VERB_DELETE, "secrets", "acme", "registry", "");
  w.wait();
  EXPECT_EQ(docker_config(w), R"({"auths":{}})");
  w.remove("api", 12);
  w.wait(61s);  // a resync, in which the other one looks at it
  w.call(DAVIT_VERB_DELETE, "secrets", "acme", "registry", "");
  w.wait();
  EXPECT_EQ(docker_config(w), R"({"auths":{}})");
  w.remove("web", 13);
  w.wait();
  w.call(DAVIT_VERB_DELETE, "secrets", "acme", "registry", "");
  w.wait();
  EXPECT_EQ(docker_config(w), "none") << "nobody needs it";
}

TEST(PullSecrets, ThatCannotBeReadDelayWhoNeedsThem) {
  SecretsWorld w(with_secrets(), with_pull_secret());
  w.vault.errors["registries/depot config"] = {Code::not_found, "there is no such secret",
                                               "registries/depot"};
  w.apply_with("web", 10, {});
  EXPECT_EQ(w.issues["web"], "delayed");
  EXPECT_TRUE(contains(w.reasons["web"],
                       "secrets acme/registry: the value of .dockerconfigjson: registries/depot: "
                       "there is no such secret"))
      << w.reasons["web"];
  EXPECT_EQ(w.replica_sets(), "");
}

}  // namespace
}  // namespace davit::applier::test
