// Tokens: from a file, by a login, renewed, replaced, revoked.
#include <thread>

#include "fixture.hpp"

namespace davit::secrets_transit {
namespace {

class Login : public BesideVault {
 protected:
  static constexpr const char* denied = R"(403 {"errors":["permission denied"]})";

  // Until the Vault was asked for what begins so. What it was asked before counts no more.
  bool comes(const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      for (const auto& one : vault.asked()) {
        if (one.starts_with(wanted)) return true;
      }
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  // The Vault says when a login has come, and answers it when it may.
  void hold_login(std::promise<void>& come, const std::shared_future<void>& may) {
    vault.script([&come, may](const std::string& path, const std::string&) {
      if (path.ends_with("/login")) {
        come.set_value();
        may.wait();
      }
      return std::string();
    });
  }
};

TEST_F(Login, ByAnAppRoleComesWithTheFirstCallAndEndsWithTheInstance) {
  Life life(approle({{"auth_mount", "teams/approle"}}));
  EXPECT_EQ(vault.asked(), Asked()) << "an agent starts without its vault";
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_EQ(life.one(sealed("a", "2")), "2");
  EXPECT_EQ(vault.asked(), Asked({"POST auth/teams/approle/login by -",
                                  "POST transit/decrypt/a by t1", "POST transit/decrypt/a by t1"}));
  ASSERT_TRUE(life.instance.stop().ok());
  EXPECT_EQ(vault.asked(), Asked({"POST auth/token/revoke-self by t1"}));
}

TEST_F(Login, SendsWhatItsFilesHaveNow) {
  Life life(approle());
  write("secret_id", "with\"quote\\\n");
  life.one({DAVIT_SECRET_READ, {}, {}, "x", "password", {}});
  std::string body;
  vault.script([&body](const std::string& path, const std::string& request) {
    if (path.ends_with("login")) body = request.substr(request.find("\r\n\r\n") + 4);
    return std::string(path.ends_with("login") ? "" : denied);
  });
  Life another(approle());
  another.one(sealed("a", "1"));
  EXPECT_EQ(body, R"({"role_id":"r","secret_id":"with\"quote\\"})");
}

TEST_F(Login, ByAServiceAccountSendsItsTokenAndRole) {
  std::string body;
  vault.script([&body](const std::string& path, const std::string& request) {
    if (path == "auth/kubernetes/login") body = request.substr(request.find("\r\n\r\n") + 4);
    return std::string();
  });
  Config config{{"url", vault.url()},
                {"auth", "kubernetes"},
                {"role", "davit"},
                {"service_account_file", file("account")}};
  Life life(config);
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_EQ(body, R"({"role":"davit","jwt":"the.jwt"})");
}

TEST_F(Login, ATokenThatIsNotAcceptedIsReplacedOnce) {
  Life life(config());
  vault.script([](const std::string&, const std::string& request) {
    return request.find("X-Vault-Token: t9") == request.npos ? denied : "";
  });
  EXPECT_EQ(life.one(sealed("a", "1")), "16: the vault does not accept the token");
  EXPECT_EQ(vault.asked(),
            Asked({"POST transit/decrypt/a by t0", "GET auth/token/lookup-self by t0"}));
  EXPECT_EQ(life.one(sealed("a", "1")).substr(0, 4), "16: ");
  write("token", "t9");
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
}

TEST_F(Login, WhoIsNotLetInIsAskedForOnceASecond) {
  Life life(approle());
  vault.script([](const std::string& path, const std::string&) {
    return path.ends_with("login") ? R"(400 {"errors":["invalid role or secret ID"]})" : "";
  });
  const auto begin = life.host.host().now();
  for (int n = 0; n < 5; ++n)
    EXPECT_EQ(life.one(sealed("a", "1")), "16: the vault does not accept the login (400)");
  const auto pauses = (life.host.host().now() - begin) / 1s;
  EXPECT_LE(vault.asked().size(), static_cast<size_t>(pauses) + 1);
  size_t errors = 0;
  for (const auto& line : life.host.log()) {
    if (line.text().find("role_id, secret_id_file") != std::string::npos) ++errors;
  }
  EXPECT_EQ(errors, 1u);
}

TEST_F(Login, IsRenewedBeforeItEnds) {
  vault.lease(3);
  Life life(approle());
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_TRUE(comes("POST auth/token/renew-self by"));
}

TEST_F(Login, ThatCannotBeRenewedIsFollowedByAnother) {
  vault.lease(3, false);
  Life life(approle());
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  vault.asked();
  EXPECT_TRUE(comes("POST auth/approle/login by -"));
  EXPECT_TRUE(comes("POST auth/approle/login by -")) << "and a third";
}

TEST_F(Login, WhoseRenewalIsRefusedIsFollowedByAnother) {
  vault.lease(3);
  vault.script([](const std::string& path, const std::string&) {
    return path == "auth/token/renew-self" ? denied : "";
  });
  Life life(approle());
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_TRUE(comes("POST auth/token/renew-self by"));
  EXPECT_TRUE(comes("POST auth/approle/login by -"));
}

TEST_F(Login, ARenewalThatGetsNoAnswerIsTriedAgain) {
  vault.lease(3);
  std::atomic<bool> away = true;
  vault.script([&away](const std::string& path, const std::string&) {
    return path == "auth/token/renew-self" && away.exchange(false) ? "503 " : "";
  });
  Life life(approle());
  EXPECT_EQ(life.one(sealed("a", "1")), "1");
  EXPECT_TRUE(comes("POST auth/token/renew-self by"));
  const auto end = std::chrono::steady_clock::now() + patience;
  size_t more = 0;
  while (more == 0 && std::chrono::steady_clock::now() < end) more = vault.asked().size();
  EXPECT_GT(more, 0u) << "a renewal, or a login when the time was over";
}

// The Vault may have made a token for it.
TEST_F(Login, ThatWasSentIsWaitedForThoughNobodyWantsItAndIsRevoked) {
  std::promise<void> come, may;
  hold_login(come, may.get_future().share());
  Life life(approle());
  std::promise<Results> answer;
  const Operation operation;
  life.client.resolve(
      {sealed("a", "1")}, [&](Results results) { answer.set_value(std::move(results)); },
      operation.op());
  come.get_future().wait();
  // The login is waited for two seconds: what comes within them is prepared before.
  std::promise<void> stop;
  auto stopped = std::async(std::launch::async, [&] {
    stop.get_future().wait();
    return life.instance.stop();
  });
  operation.cancel();
  stop.set_value();
  may.set_value();
  EXPECT_EQ(told(answer.get_future().get().at(0)).substr(0, 3), "1: ");
  EXPECT_TRUE(stopped.get().ok());
  EXPECT_EQ(vault.asked(),
            Asked({"POST auth/approle/login by -", "POST auth/token/revoke-self by t1"}));
}

TEST_F(Login, ThatIsNotAnsweredDoesNotHoldTheStop) {
  std::promise<void> come, may;
  hold_login(come, may.get_future().share());
  Life life(approle({{"request_timeout_ms", 600'000}}));
  auto answer = std::async(std::launch::async, [&] { return life.one(sealed("a", "1")); });
  come.get_future().wait();
  EXPECT_TRUE(life.instance.stop().ok());
  EXPECT_EQ(answer.get().substr(0, 4), "14: ");
  may.set_value();
}

TEST_F(Login, AForbiddenKeyringLogsNobodyInAgain) {
  Life life(approle());
  vault.script([](const std::string& path, const std::string&) {
    return path.find("decrypt/b") != path.npos ? denied : "";
  });
  for (int n = 0; n < 5; ++n) EXPECT_EQ(life.one(sealed("b", "1")).substr(0, 3), "7: ");
  size_t logins = 0;
  for (const auto& one : vault.asked()) logins += one.find("/login") != one.npos ? 1 : 0;
  EXPECT_EQ(logins, 1u);
}

}  // namespace
}  // namespace davit::secrets_transit
