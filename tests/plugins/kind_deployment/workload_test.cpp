#include "workload.hpp"

#include <gtest/gtest.h>

#include "message.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

// Sets one member to JSON text; "-" takes it away.
std::string with(std::initializer_list<std::pair<const char*, const char*>> changes) {
  json::object message = minimal();
  for (const auto& [key, text] : changes) {
    message.erase(key);
    if (std::string_view(text) != "-") message[key] = json::parse(text);
  }
  return json::serialize(message);
}

std::string fault_of(const std::string& apply, const Site& site = {}) {
  const auto workload = read_workload(apply, site);
  if (workload.ok()) return "ok";
  EXPECT_EQ(workload.error().code, Code::invalid_argument);
  return workload.error().where + ": " + workload.error().message;
}

struct Row {
  const char* key;
  const char* value;
  const char* fault;
};

TEST(Workload, IsRunByAControllerThatTheSiteAllows) {
  Site site;
  EXPECT_EQ(fault_of(with({{"controller", "\"replica_set\""}}), site), "ok");
  EXPECT_EQ(fault_of(with({{"controller", "\"deployment\""}}), site),
            "controller: \"deployment\" is not one of the kind's setting controllers");
  EXPECT_EQ(fault_of(with({{"controller", "\"job\""}}), site),
            "controller: must be \"replica_set\", \"deployment\" or \"stateful_set\", not \"job\"");
  site.controllers = {Controller::deployment, Controller::stateful_set};
  EXPECT_EQ(read_workload(with({{"controller", "\"\""}}), site)->controller,
            Controller::deployment);
  const auto set = [&](const std::string& name) {
    return fault_of(with({{"controller", "\"stateful_set\""}, {"k8s_name", name.c_str()}}), site);
  };
  EXPECT_EQ(set("\"" + std::string(52, 'a') + "\""), "ok");
  for (const auto& name : {std::string(53, 'a'), std::string("web.1"), std::string("1web")})
    EXPECT_TRUE(set("\"" + name + "\"").starts_with("k8s_name: must be a Service's name")) << name;
}

class Validation : public ::testing::TestWithParam<Row> {};

TEST_P(Validation, NamesTheFieldAndTheRule) {
  EXPECT_EQ(fault_of(with({{GetParam().key, GetParam().value}})), GetParam().fault);
}

constexpr Row names[] = {
    {"k8s_namespace", "-", "k8s_namespace: is missing"},
    {"k8s_name", "\"\"", "k8s_name: is missing"},
    {"workspace_id", "-", "workspace_id: is missing"},
    {"project_id", "null", "project_id: is missing"},
    {"environment_id", "-", "environment_id: is missing"},
    {"deployment_id", "-", "deployment_id: is missing"},
    {"image", "-", "image: is missing"},
    {"k8s_namespace", "\"Acme\"",
     "k8s_namespace: must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not "
     "\"Acme\""},
    {"k8s_namespace", "\"a.b\"",
     "k8s_namespace: must be a DNS label (at most 63 lower-case letters, digits and \"-\"), not "
     "\"a.b\""},
    {"k8s_name", "\"web-\"",
     "k8s_name: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), not "
     "\"web-\""},
    {"k8s_name", "\"a..b\"",
     "k8s_name: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), not "
     "\"a..b\""},
    {"k8s_name", "\"web_1\"",
     "k8s_name: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and \".\"), not "
     "\"web_1\""},
    {"deployment_id", "\"d 1\"",
     "deployment_id: must be usable as a label (at most 63 letters, digits, \"-\", \"_\" and "
     "\".\", with a letter or "
     "digit at both ends), not \"d 1\""},
    {"app_id", "\"_\"",
     "app_id: must be usable as a label (at most 63 letters, digits, \"-\", \"_\" and \".\", with "
     "a letter or "
     "digit at both ends), not \"_\""},
    {"image", "\"nginx \"", "image: must not contain white space"},
    {"image", "7", "image: must be a string, not a number"},
};
INSTANTIATE_TEST_SUITE_P(Names, Validation, ::testing::ValuesIn(names));

constexpr Row sizes[] = {
    {"cpu_millicores", "-", "cpu_millicores: must be at least 1, not 0"},
    {"cpu_millicores", "\"-250\"", "cpu_millicores: must be at least 1, not -250"},
    {"cpu_millicores", "\"9223372036854775807\"",
     "cpu_millicores: must be at most 1000000000, not 9223372036854775807"},
    {"memory_mib", "0", "memory_mib: must be at least 1, not 0"},
    {"memory_mib", "\"-1\"", "memory_mib: must be at least 1, not -1"},
    {"memory_mib", "\"256Mi\"", "memory_mib: must be a whole number, not \"256Mi\""},
    {"memory_mib", "1.5", "memory_mib: must be a whole number of at most 64 bits"},
    {"memory_mib", "18446744073709551615", "memory_mib: must be a whole number of at most 64 bits"},
    {"memory_mib", "true", "memory_mib: must be a whole number, not true or false"},
    {"port", "-1", "port: must be at least 0, not -1"},
    {"port", "65536", "port: must be at most 65535, not 65536"},
    {"port", "\"http\"", "port: must be a whole number, not \"http\""},
    {"port", "0", "ok"},
    {"port", "65535", "ok"},
    {"replicas", "-1", "replicas: must be at least 0, not -1"},
    {"replicas", "0", "ok"},
    {"replicas", "2147483648", "replicas: must be at most 2147483647, not 2147483648"},
    {"replicas", "-",
     "replicas: exactly one of replicas and autoscaling is needed; neither is set"},
    {"autoscaling", "{\"min_replicas\":1,\"max_replicas\":2}",
     "replicas: exactly one of replicas and autoscaling is needed; both are set"},
    {"autoscaling", "{\"min_replicas\":1,\"max_replicas\":1}", "ok"},
};
INSTANTIATE_TEST_SUITE_P(Sizes, Validation, ::testing::ValuesIn(sizes));

constexpr Row rest[] = {
    {"shutdown_signal", "\"SIGHUP\"",
     "shutdown_signal: must be SIGTERM, SIGINT, SIGQUIT, SIGKILL or empty, not \"SIGHUP\""},
    {"shutdown_signal", "\"\"", "ok"},
    {"command", "\"run\"", "command: must be a list of strings, not a string"},
    {"command", "[\"run\", 1]", "command[1]: must be a string, not a number"},
    {"git_branch", "[]", "git_branch: must be a string, not a list"},
    {"healthcheck", "\"/health\"", "healthcheck: must be an object, not a string"},
    {"healthcheck", "\"\"", "ok"},
    {"healthcheck", "{\"$base64\":\"\"}", "ok"},
    {"healthcheck", "{\"$base64\":\"bnVsbA==\"}", "ok"},
    {"healthcheck", "{\"$base64\":\"eyJ4\"}", "ok"},
    {"healthcheck", "{\"path\":\"/\"}", "healthcheck.method: is missing"},
    {"healthcheck", "{\"method\":\"PUT\",\"path\":\"/\"}",
     "healthcheck.method: must be GET or POST, not \"PUT\""},
    {"healthcheck", "{\"method\":\"GET\"}", "healthcheck.path: is missing"},
    {"healthcheck", "{\"method\":\"GET\",\"path\":\"health\"}",
     "healthcheck.path: must begin with \"/\", not \"health\""},
    {"healthcheck", "{\"method\":\"GET\",\"path\":\"/\",\"intervalSeconds\":-1}",
     "healthcheck.intervalSeconds: must be at least 0, not -1"},
    {"healthcheck", "{\"method\":\"GET\",\"path\":\"/\",\"timeoutSeconds\":\"soon\"}",
     "healthcheck.timeoutSeconds: must be a whole number, not \"soon\""},
    {"healthcheck", "{\"method\":\"GET\",\"path\":\"/\",\"interval\":5}",
     "healthcheck.interval: is not known here (known: method, path, intervalSeconds, "
     "timeoutSeconds, "
     "failureThreshold, initialDelaySeconds)"},
    {"encrypted_environment_variables", "{\"secrets\":{\"A\":\"x\"}}", "ok"},
    {"encrypted_environment_variables", "{\"secrets\":{\"1A\":\"x\"}}",
     "encrypted_environment_variables.secrets.1A: must be the name of an environment variable "
     "(letters, digits and "
     "\"_\", not beginning with a digit), not \"1A\""},
    {"encrypted_environment_variables", "{\"secrets\":{\"A\":7}}",
     "encrypted_environment_variables.secrets.A: must be a string, not a number"},
    {"encrypted_environment_variables", "{\"secret\":{}}",
     "encrypted_environment_variables.secret: is not known here (known: secrets)"},
    {"encrypted_environment_variables", "\"Zm9v\"",
     "encrypted_environment_variables: must be an object, not a string"},
};
INSTANTIATE_TEST_SUITE_P(Rest, Validation, ::testing::ValuesIn(rest));

const Row pods[] = {
    {"pod", "{}", "ok"},
    {"pod", R"({"pod_security":"restricted","run_as_non_root":false})", "ok"},
    {"pod", R"({"pod_security":"baseline"})",
     R"(pod.pod_security: must be "restricted" or "unrestricted")"},
    {"pod", R"({"run_as_non_root":"yes"})",
     "pod.run_as_non_root: must be true or false, not a string"},
    {"pod", R"({"service_account":"Web"})",
     "pod.service_account: must be a DNS name (at most 253 lower-case letters, digits, \"-\" and "
     "\".\"), not \"Web\""},
    {"pod", R"({"labels":{"team":"a b"}})",
     "pod.labels: team: must be usable as a label (at most 63 letters, digits, \"-\", \"_\" and "
     "\".\", with a letter or digit at both ends), not \"a b\""},
    {"pod", R"({"labels":{"team":7}})", "pod.labels.team: must be a string, not a number"},
    {"pod", R"({"node_selector":{"a/b/c":"x"}})",
     "pod.node_selector: must be a label's key, such as \"team\" or \"example.com/team\", not "
     "\"a/b/c\""},
    {"pod", R"({"labels":{"unkey.com/deployment.id":"d_2"}})",
     "pod.labels: unkey.com/deployment.id is written by the kind"},
    {"pod", R"({"annotations":{"davit.dev/template-hash":"x"}})",
     "pod.annotations: davit.dev/template-hash is written by the kind"},
    {"pod", R"({"affinity":{"$base64":"AAEC"}})", "pod.affinity: must be a JSON object"},
    {"ephemeral_storage", R"({"size_mib":"-1"})",
     "ephemeral_storage.size_mib: must be at least 0, not -1"},
};
INSTANTIATE_TEST_SUITE_P(Pods, Validation, ::testing::ValuesIn(pods));

// What the agent decrypts must be said by name, and the Secret have a name.
TEST(Workload, WhoseSecretsAreDecryptedNamesThemAll) {
  Site site;
  site.decrypts_secrets = true;
  const auto fault = [&](const std::string& blob, const std::string& id = "d_1") {
    const std::string quoted = "\"" + id + "\"";
    const auto workload = read_workload(with({{"encrypted_environment_variables", blob.c_str()},
                                              {"deployment_id", quoted.c_str()}}),
                                        site);
    return workload.ok() ? "ok" : workload.error().where + ": " + workload.error().message;
  };
  EXPECT_EQ(fault(R"({"secrets":{"A":"x"}})"), "ok");
  EXPECT_EQ(fault(R"({"secrets":{}})"), "ok");
  EXPECT_EQ(fault(R"({"$base64":"AAEC"})"),
            "encrypted_environment_variables: must be JSON, {\"secrets\": {name: ciphertext}}");
  EXPECT_TRUE(fault(R"({"secrets":{"A":"x"}})", "a..b")
                  .starts_with("deployment_id: names a Secret, which "));
  EXPECT_EQ(secret_name("d_ABC_1"), "deploy-d-abc-1");
}

TEST(Workload, NeedsSoundAutoscalingBounds) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "autoscaling.min_replicas: must be at least 1, not 0"},
      {"{\"min_replicas\":0,\"max_replicas\":3}",
       "autoscaling.min_replicas: must be at least 1, not 0"},
      {"{\"min_replicas\":3,\"max_replicas\":2}",
       "autoscaling.max_replicas: must be at least min_replicas (3), not 2"},
      {"{\"min_replicas\":3}", "autoscaling.max_replicas: must be at least 1, not 0"},
      {"{\"min_replicas\":1,\"max_replicas\":4294967295}",
       "autoscaling.max_replicas: must be at most 2147483647, not 4294967295"},
      {"{\"min_replicas\":1,\"max_replicas\":2,\"cpu_threshold\":0}",
       "autoscaling.cpu_threshold: must be at least 1, not 0"},
      {"{\"min_replicas\":2,\"max_replicas\":2}", "ok"},
      {"[]", "autoscaling: must be an object, not a list"},
  };
  for (const auto& [bounds, fault] : rows) {
    EXPECT_EQ(fault_of(with({{"replicas", "-"}, {"autoscaling", bounds}})), fault) << bounds;
  }
}

TEST(Workload, TakesAbsentReplicasAsNoneWhenThePeerCannotSayZero) {
  Site site;
  site.absent_replicas_is_zero = true;
  const auto workload = read_workload(with({{"replicas", "-"}}), site);
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(workload->replicas, 0);
}

TEST(Workload, IsNotScaledWhenBothSayOneNumber) {
  const auto workload = read_workload(
      with({{"replicas", "4"}, {"autoscaling", "{\"min_replicas\":4,\"max_replicas\":4}"}}), {});
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(workload->replicas, 4);
  EXPECT_FALSE(workload->autoscaling.has_value());
}

TEST(Workload, HasTheLowerBoundWhereThereAreNoAutoscalers) {
  Site site;
  site.autoscaling = false;
  const auto workload = read_workload(
      with({{"replicas", "-"}, {"autoscaling", "{\"min_replicas\":2,\"max_replicas\":5}"}}), site);
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(workload->replicas, 2);
  EXPECT_FALSE(workload->autoscaling.has_value());
  EXPECT_EQ(workload->notes.at(0), "autoscaling is turned off here: min_replicas pods");
}

TEST(Workload, GoesWithoutProbesWhenTheHealthcheckIsNoJson) {
  const auto workload = read_workload(with({{"healthcheck", "{\"$base64\":\"eyJ4\"}"}}), {});
  ASSERT_TRUE(workload.ok());
  EXPECT_FALSE(workload->healthcheck.has_value());
  EXPECT_EQ(workload->notes.at(0), "healthcheck is not JSON: no probes");
}

TEST(Workload, RefusesWhatIsNoObject) {
  for (const char* text : {"", "7", "[]", "\"x\"", "null", "{", "{}}", "\xff\xfe"}) {
    EXPECT_FALSE(read_workload(text, {}).ok()) << text;
    EXPECT_FALSE(identify(text).ok()) << text;
    EXPECT_FALSE(wants_none(text, {})) << text;
  }
  EXPECT_EQ(fault_of("[]"), ": the deployment is not a JSON object");
}

TEST(Workload, IsIdentifiedByIdNamespaceAndName) {
  const auto named = identify(with({}));
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(*named, (Named{"d_1", "acme", "web"}));
  EXPECT_EQ(identify("{\"k8s_namespace\":\"a\",\"k8s_name\":\"b\"}").error().where,
            "deployment_id");
}

TEST(Workload, PassesASecretsBlobOnThatIsNoJson) {
  const char* key = "encrypted_environment_variables";
  EXPECT_EQ(read_workload(with({{key, "{\"$base64\":\"AAEC\"}"}}), {})->encrypted_env, "AAEC");
  EXPECT_EQ(read_workload(with({{key, "{\"$base64\":\"\"}"}}), {})->encrypted_env, "");
}

TEST(Workload, FillsInTheSitesPort) {
  EXPECT_EQ(read_workload(with({}), {})->port, 8080);
}

TEST(Workload, WantsNoneOnlyWithZeroReplicasAndNoAutoscaling) {
  EXPECT_TRUE(wants_none(with({{"replicas", "0"}}), {}));
  EXPECT_FALSE(wants_none(with({}), {}));
  EXPECT_FALSE(wants_none(with({{"replicas", "0"}, {"autoscaling", "{}"}}), {}));
  EXPECT_FALSE(wants_none(with({{"replicas", "-"}}), {}));
}

}  // namespace
}  // namespace davit::deployment::test
