// Who gets variables, and what everybody else is told.
#include "world.hpp"

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;

TEST(SecretsBlob, GivesAPodTheVariablesOfItsDeployment) {
  World w;
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
  EXPECT_EQ(w.api.asked, (std::vector<std::string>{"create tokenreviews", "get pods acme/web-1"}));
  EXPECT_EQ(w.vault.asked, (std::vector<std::string>{"env_1 c:one", "env_1 c:two"}));
  EXPECT_EQ(w.vault.batches, 1u);
}

TEST(SecretsBlob, IsServedToTheRoleOfPodsAlone) {
  World w;
  EXPECT_EQ(w.rpc.paths(), std::vector<std::string>{World::path});
  EXPECT_EQ(w.rpc.role_of(World::path), "pod");
}

TEST(SecretsBlob, WithoutABlobThereAreNoVariablesForAPod) {
  World w;
  EXPECT_EQ(w.ask_with([](auto& m) { m.clear_encrypted_blob(); }), "");
  EXPECT_EQ(w.api.asked.size(), 2u) << "it is a pod that asks";
  EXPECT_EQ(w.ask_with([](auto& m) {
    m.clear_encrypted_blob();
    m.set_token("nobody");
  }),
            refused);
}

struct Stranger {
  const char* name;
  std::function<void(World&, krane::v1::DecryptSecretsBlobRequest&)> is;
  const char* reason;
};
class Strangers : public ::testing::TestWithParam<Stranger> {};
TEST_P(Strangers, AreRefusedWithOneTextAndTheLogSaysWhy) {
  World w;
  auto message = World::request();
  GetParam().is(w, message);
  EXPECT_EQ(w.ask(message), refused);
  EXPECT_TRUE(w.host.logged(std::string("reason=") + GetParam().reason)) << GetParam().reason;
  EXPECT_EQ(w.vault.batches, 0u);
}
INSTANTIATE_TEST_SUITE_P(
    SecretsBlob, Strangers,
    ::testing::Values(
        Stranger{"no_token", [](World&, auto& m) { m.clear_token(); },
                 "the token has not the form of one"},
        Stranger{"another_token", [](World&, auto& m) { m.set_token("guessed"); },
                 "the API server does not accept the token"},
        Stranger{"no_deployment", [](World&, auto& m) { m.clear_deployment_id(); },
                 "no pod has a label with such a deployment_id"},
        Stranger{"no_environment", [](World&, auto& m) { m.clear_environment_id(); },
                 "no pod has a label with such an environment_id"},
        Stranger{"another_deployment", [](World&, auto& m) { m.set_deployment_id("d_2"); },
                 "the pod is one of another deployment"},
        Stranger{"another_environment", [](World&, auto& m) { m.set_environment_id("env_2"); },
                 "the pod is one of another environment"},
        Stranger{"no_pod", [](World& w, auto&) { w.api.tokens["token-web-1"].pod.clear(); },
                 "the token is not bound to a pod"},
        Stranger{"no_service_account",
                 [](World& w, auto&) { w.api.tokens["token-web-1"].user = "system:node:a:b"; },
                 "the token is not that of a service account"},
        Stranger{"a_pod_that_is_gone", [](World& w, auto&) { w.api.pods.clear(); },
                 "there is no such pod"},
        Stranger{"a_pod_of_another_namespace",
                 [](World& w, auto&) {
                   w.api.tokens["token-web-1"].user = "system:serviceaccount:other:a";
                 },
                 "there is no such pod"},
        Stranger{"another_pod_of_the_name",
                 [](World& w, auto&) { w.api.tokens["token-web-1"].uid = "an-earlier-one"; },
                 "the pod is another one of the same name"},
        Stranger{"a_pod_that_has_finished",
                 [](World& w, auto&) {
                   w.api.pods["acme/web-1"].at("status").as_object()["phase"] = "Succeeded";
                 },
                 "the pod has finished"}),
    [](const auto& row) { return row.param.name; });

TEST(SecretsBlob, AsksForTheAudiencesOfTheSettings) {
  World w({{"audiences", {"davit"}}});
  EXPECT_EQ(w.ask(World::request()), refused);
  w.api.add_pod("web-2", "d_1");
  w.api.tokens["token-web-2"].audiences = {"davit"};
  EXPECT_EQ(w.ask(World::request("web-2")), "A=one B=two");
}

TEST(SecretsBlob, ReadsTheLabelsOfTheSettings) {
  World w({{"label_prefix", "acme.com/"}});
  EXPECT_EQ(w.ask(World::request()), refused);
  w.api.pods["acme/web-1"].at_pointer("/metadata/labels") = {{"acme.com/deployment.id", "d_1"},
                                                             {"acme.com/environment.id", "env_1"}};
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

cluster::Response failure(Code code, int32_t http, const std::string& message = {}) {
  cluster::Response r;
  r.code = code;
  r.http_status = http;
  r.message = message;
  r.body = "<html>token-web-1</html>";
  return r;
}

TEST(SecretsBlob, WithoutTheApiServerNobodyIsRefused) {
  for (const auto& r :
       {failure(Code::unavailable, 0, "connection refused"), failure(Code::deadline_exceeded, 504),
        failure(Code::permission_denied, 403), failure(Code::unauthenticated, 401),
        failure(Code::resource_exhausted, 429), failure(Code::internal, 500),
        failure(Code::ok, 200)}) {
    World w;
    w.api.refuses_reviews = r;
    EXPECT_EQ(w.ask(World::request()), away) << r.http_status;
    w.api.refuses_reviews.reset();
    w.api.refuses_pods = r;
    EXPECT_EQ(w.ask(World::request()), away) << r.http_status;
    w.api.refuses_pods.reset();
    EXPECT_EQ(w.ask(World::request()), "A=one B=two") << "what failed is asked anew";
  }
}

TEST(SecretsBlob, ABlobThatCannotBeReadIsAnInternalError) {
  World w;
  EXPECT_EQ(w.ask_with([](auto& m) { m.set_encrypted_blob(R"({"secrets":{"A":7}})"); }),
            "13 the secrets blob cannot be read");
  EXPECT_TRUE(w.host.logged("detail=secrets.A: must be a string, not a number"));
  EXPECT_EQ(w.ask_with([](auto& m) {
    m.set_encrypted_blob("no JSON");
    m.set_token("nobody");
  }),
            refused)
      << "it is not looked at for strangers";
}

TEST(SecretsBlob, AVariableThatCannotBeDecryptedIsNamedInTheLogAlone) {
  World w;
  w.vault.errors["c:two"] = {Code::invalid_argument, "it was made with another key", "env_1"};
  EXPECT_EQ(w.ask(World::request()), "13 the secrets cannot be decrypted");
  EXPECT_TRUE(w.host.logged("detail=B: env_1: it was made with another key"));
  w.vault.errors["c:one"] = {Code::unavailable, "the vault does not answer", "env_1"};
  EXPECT_EQ(w.ask(World::request()), "13 the secrets cannot be decrypted") << "no other try helps";
}

TEST(SecretsBlob, WhatMayBeDecryptedLaterIsUnavailable) {
  for (const Code code : {Code::unavailable, Code::resource_exhausted, Code::deadline_exceeded,
                          Code::aborted, Code::cancelled}) {
    World w;
    w.vault.errors["c:two"] = {code, "the vault does not answer", "env_1"};
    EXPECT_EQ(w.ask(World::request()), "14 the secrets cannot be decrypted now: try again later");
  }
}

TEST(SecretsBlob, AValueThatIsNoTextIsAnInternalError) {
  World w;
  EXPECT_EQ(w.ask_with([](auto& m) { m.set_encrypted_blob(R"({"secrets":{"A":"c:xx"}})"); }),
            "A=xx");
  w.vault.binary = true;
  EXPECT_EQ(w.ask(World::request()), "13 the secrets cannot be decrypted");
  EXPECT_TRUE(w.host.logged("reason=a variable is no text"));
}

TEST(SecretsBlob, NoTokenCiphertextOrPlaintextIsInTheLog) {
  World w;
  w.vault.errors["c:two"] = {Code::invalid_argument, "it was made with another key", "env_1"};
  w.ask(World::request());
  w.vault.errors.clear();
  w.ask(World::request());
  w.ask_with([](auto& m) { m.set_token("token-guessed"); });
  w.ask_with([](auto& m) { m.set_token("token-web-1\n"); });
  w.ask_with([](auto& m) { m.set_encrypted_blob(R"({"secrets":"c:one"})"); });
  w.ask_with([](auto& m) { m.set_deployment_id("token-web-1"); });
  w.api.refuses_reviews = failure(Code::internal, 500, "token-web-1 is bad");
  w.ask(World::request());
  const auto lines = w.host.log();
  EXPECT_GT(lines.size(), 3u);
  for (const auto& line : lines) {
    for (const char* never : {"token-guessed", "c:one", "c:two", "=one", "=two"})
      EXPECT_EQ(line.text().find(never), std::string::npos) << line.text();
    EXPECT_EQ(line.text().find("token-web-1 is"), std::string::npos) << line.text();
  }
}

TEST(SecretsBlob, EachPartOfACallHasTheTimeOfTheWhole) {
  World w({{"timeout_ms", 3'000}});
  const int64_t until = (w.host.now() + 3s).count();
  w.begin(World::request());
  EXPECT_EQ(w.api.deadlines, (std::vector<int64_t>{until, until}));
  EXPECT_EQ(w.vault.deadlines, std::vector<int64_t>{until});
  w.begin(World::request(), "10.0.0.1", [&](auto& c) { c.deadline_ns = until - 5; });
  EXPECT_EQ(w.api.deadlines.back(), until - 5) << "the caller's";
}

TEST(SecretsBlob, WhoGivesUpIsNotWorkedForAnyMore) {
  World w;
  w.api.hold = true;
  auto& call = w.begin(World::request());
  call.cancel();
  w.host.run();
  EXPECT_EQ(World::told(call), "1 the caller has gone");
  w.api.let_go();
  w.host.run();
  w.api.hold = false;
  EXPECT_EQ(w.api.asked.size(), 1u);
  EXPECT_EQ(w.ask(World::request()), "A=one B=two");
}

TEST(SecretsBlob, AnAnswerThatComesAfterTheCallerHasGoneLeadsToNothing) {
  World w;
  w.api.hold = true;
  w.begin(World::request()).cancel();
  w.host.run();
  w.api.release();
  w.host.run();
  EXPECT_EQ(w.api.asked.size(), 1u);
  EXPECT_EQ(w.vault.batches, 0u);
}

TEST(SecretsBlob, VariablesThatComeAfterTheCallerHasGoneAreSentToNobody) {
  World w;
  w.vault.hold = true;
  auto& call = w.begin(World::request());
  call.cancel();
  w.host.run();
  w.vault.release();
  w.host.run();
  EXPECT_TRUE(call.messages.empty());
}

TEST(SecretsBlob, WhatIsOpenAtTheStopIsUnavailable) {
  World w;
  w.api.hold = true;
  auto& call = w.begin(World::request());
  w.stop();
  EXPECT_EQ(World::told(call).substr(0, 3), "14 ");
}

}  // namespace
}  // namespace davit::secrets_blob
