// The whole plugin with a token of its settings: it signs it, or asks a token server.
#include <ctime>

#include "keys.hpp"
#include "scripted_peer.hpp"

namespace davit::cluster_kubernetes {
namespace {

std::string line_of(const std::string& request, const std::string& header) {
  const size_t at = request.find(header + ": ");
  if (at == std::string::npos) return {};
  const size_t from = at + header.size() + 2;
  return request.substr(from, request.find("\r\n", from) - from);
}
std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

class Tokens : public Edge {
 protected:
  Tokens()
      : api([this](const std::string& request) {
          const std::string shown = line_of(request, "Authorization");
          const bool good = accepts(shown.starts_with("Bearer ") ? shown.substr(7) : "");
          if (good) return http("200 OK", "{}");
          ++refused;
          return http("401 Unauthorized", "{}", date);
        }),
        login([this](const std::string&) { return token(lives_s); }) {}

  // The next token: "t-1", "t-2" ...
  std::string token(int seconds) {
    return http("200 OK", R"({"access_token":"t-)" + std::to_string(++made) +
                              R"(","token_type":"Bearer","expires_in":)" + std::to_string(seconds) +
                              "}");
  }
  std::string file(const std::string& name, const std::string& content) {
    const std::string path = directory.path() + "/" + name;
    std::ofstream(path + ".new") << content;
    std::rename((path + ".new").c_str(), path.c_str());
    return path;
  }
  Config with(std::initializer_list<Config::Entry> more) {
    Config c{{"server", api.url() + "/apis/core.kubernetes/"}};
    for (const auto& entry : more) c.set(entry);
    return c;
  }
  Config client() {
    return with({{"token.source", "client_credentials"},
                 {"token.url", login.url() + "/token"},
                 {"token.client_id", "robot-17"},
                 {"token.client_secret_file", file("secret", "s3cret\n")}});
  }
  // Whether health says so, in the end.
  bool says(Running& running, const std::string& part) {
    return running.host.run_until(
        [&] { return running.host.health_reason().find(part) != std::string::npos; }, patience);
  }
  bool serves(Running& running) {
    return running.host.run_until([&] { return running.host.health() == DAVIT_HEALTH_SERVING; },
                                  patience);
  }

  std::function<bool(const std::string&)> accepts = [this](const std::string& shown) {
    return shown.starts_with("t-") && std::stoi(shown.substr(2)) > made - 2;
  };
  std::string date;
  std::atomic<int> made{0}, refused{0}, lives_s{3600};
  ScriptedPeer api, login;
};

TEST_F(Tokens, OneIsAskedForAndAllRequestsGoWithIt) {
  Running running(client());
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(running.get("a").code, Code::ok);
  const auto asked = login.requests();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].starts_with("POST /token HTTP/1.1\r\n")) << asked[0];
  EXPECT_EQ(line_of(asked[0], "Authorization"), "Basic " + base64("robot-17:s3cret"));
  EXPECT_EQ(body_of(asked[0]), "grant_type=client_credentials");
  EXPECT_TRUE(api.requests()[0].starts_with(
      "GET /apis/core.kubernetes/api/v1/namespaces/default/configmaps/a HTTP/1.1\r\n"));
  EXPECT_EQ(refused, 0);
}

TEST_F(Tokens, AShortOneIsRenewedInTimeThoughNobodyAsks) {
  lives_s = 2;
  Running running(client());
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_TRUE(running.host.run_until([&] { return made >= 3; }, patience));
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(running.host.health(), DAVIT_HEALTH_SERVING);
}

TEST_F(Tokens, TheSettingSaysHowLongBeforeItsEndOneIsRenewed) {
  lives_s = 8;  // by default it would be renewed after six seconds
  std::vector<std::chrono::steady_clock::time_point> asked;
  login.answer([&](const std::string&) {
    asked.push_back(std::chrono::steady_clock::now());
    return token(lives_s);
  });
  Config c = client();
  c.set({"token.renew_before_s", 1});
  Running running(c);
  EXPECT_TRUE(running.host.run_until([&] { return login.requests().size() >= 2; }, patience));
  EXPECT_TRUE(running.instance.stop().ok());
  EXPECT_GE(asked.at(1) - asked.at(0), std::chrono::milliseconds(6'800));
}

TEST_F(Tokens, OneThatIsRefusedIsMadeAnewAndNobodyNotices) {
  accepts = [this](const std::string& shown) { return shown == "t-2" && made == 2; };
  Running running(client());
  cluster::Request created = Running::apply_request("a", "1", "default");
  created.verb = DAVIT_VERB_CREATE;
  EXPECT_EQ(running.ask(created).code, Code::ok);
  EXPECT_EQ(made, 2);
  EXPECT_FALSE(running.host.logged("the API server does not accept the credentials"));
}

TEST_F(Tokens, AServerThatRefusesEachOneIsBelieved) {
  accepts = [](const std::string&) { return false; };
  Running running(client());
  const auto begin = running.host.now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  // A second later at the soonest, it tries again.
  EXPECT_GE(made, 2);
  EXPECT_LE(made, 2 + (running.host.now() - begin) / std::chrono::seconds(1));
  EXPECT_TRUE(says(running, "does the API server accept tokens of that server"));
}

TEST_F(Tokens, WhileTheServerIsAwayTheLastOneIsUsedUntilItEnds) {
  lives_s = 12;
  Running running(client());
  EXPECT_EQ(running.get("a").code, Code::ok);
  login.answer([](const std::string&) { return http("503 Service Unavailable", ""); });
  EXPECT_TRUE(says(running,
                   "the server answers 503: try again later; requests go on with the "
                   "present token, which ends at "));
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_EQ(running.host.health(), DAVIT_HEALTH_DEGRADED);
  // It ends.
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::unauthenticated; },
                                     patience));
  EXPECT_TRUE(running.host.run_until(
      [&] { return running.host.health_reason().ends_with("try again later"); }, patience))
      << running.host.health_reason();
  // And it is back.
  login.answer([this](const std::string&) { return token(3600); });
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
  EXPECT_TRUE(serves(running));
  EXPECT_EQ(refused, 0) << "no token was sent after its end";
  EXPECT_TRUE(running.host.logged("the bearer token can be made again"));
  EXPECT_GE(running.host.metric("davit_cluster_token_failures_total"), 1);
}

TEST_F(Tokens, WhatGoesWrongIsSaidAndNothingOfTheSecret) {
  const std::string who = "token of client \"robot-17\" at " + login.url() + "/token: ";
  const std::string advice = "; does the client exist there, and is its secret that of \"" +
                             directory.path() + "/secret\"?";
  const struct {
    std::string answer, says;
  } rows[] = {
      {http("401 Unauthorized", R"({"error":"invalid_client","error_description":"key revoked"})"),
       "the server refuses: 401 invalid_client: key revoked" + advice},
      {http("400 Bad Request", R"({"error":"invalid_scope","error_description":"s3cret is bad"})",
            "Date: Mon, 24 Nov 2025 16:00:00 GMT\r\n"),
       "the server refuses: 400 invalid_scope" + advice + " And the clock of this machine is "},
      {http("302 Found", "", "Location: /login\r\n"), "the server answers 302, a redirection"},
      {http("200 OK", "<html>Log in</html>"), "the server answers with neither JSON nor a JWT"},
      {http("200 OK", std::string(4'000'000, 'x')), "the answer has more than 1048576 bytes"},
      {"rubbish\r\n\r\n", ""},
      {"", "no answer within 300 ms (request_timeout_ms)"},
  };
  for (const auto& row : rows) {
    login.answer([&](const std::string&) { return row.answer; });
    Config c = client();
    if (row.answer.empty()) c.set({"token.request_timeout_ms", 300});
    Running running(c);
    const auto r = running.get("a");
    EXPECT_EQ(r.code, Code::unauthenticated);
    EXPECT_TRUE(r.message.starts_with(who + row.says)) << r.message;
    EXPECT_TRUE(says(running, who + row.says)) << running.host.health_reason();
    Seen seen(running, watching(), 10);
    EXPECT_TRUE(seen.wait_trouble());
    EXPECT_EQ(r.message.find("s3cret"), std::string::npos);
    EXPECT_FALSE(running.host.logged("s3cret"));
  }
  EXPECT_EQ(api.requests().size(), 0u) << "nothing is sent without a token";
}

TEST_F(Tokens, ASecretThatWasReplacedIsUsed) {
  login.answer([this](const std::string& request) {
    const bool good = line_of(request, "Authorization") == "Basic " + base64("robot-17:second");
    return good ? token(3600) : http("401 Unauthorized", R"({"error":"invalid_client"})");
  });
  Running running(client());
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  file("secret", "second");
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
}

TEST_F(Tokens, StoppingDoesNotWaitForTheServer) {
  login.answer([](const std::string&) { return std::string(); });
  Config c = client();
  c.set({"token.request_timeout_ms", 3'600'000});
  Running running(c);
  std::atomic<bool> answered{false};
  running.client.request(Running::apply_request("a", "1", "default"),
                         [&](const Response&) { answered = true; });
  EXPECT_TRUE(running.host.run_until([&] { return login.requests().size() == 1; }, patience));
  EXPECT_TRUE(running.instance.stop().ok());
  EXPECT_TRUE(answered);
}

TEST_F(Tokens, AClientProvesItselfWithAKeyOrExchangesAJwt) {
  const KeyPair key = ec_key();
  const std::string pem = file("key.pem", pem_of(key));
  Config c = with({{"token.source", "client_credentials"},
                   {"token.url", login.url()},
                   {"token.client_id", "robot-17"},
                   {"token.scope", "a b"},
                   {"token.audience", "https://cloud.example"},
                   {"token.jwt_key_file", pem},
                   {"token.jwt_algorithm", "ES256"}});
  const auto asked = [&](const Config& config) {
    Running running(config);
    EXPECT_EQ(running.get("a").code, Code::ok);
    return body_of(login.requests().back());
  };
  const auto jwt_in = [&](const std::string& form, const std::string& field) {
    const size_t from = form.find(field + "=") + field.size() + 1;
    return claims_signed_by(key, form.substr(from, form.find('&', from) - from));
  };
  std::string form = asked(c);
  EXPECT_TRUE(
      form.starts_with("grant_type=client_credentials&client_assertion_type=urn%3Aietf%3A"
                       "params%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
                       "client_assertion=ey"))
      << form;
  EXPECT_TRUE(
      form.ends_with("&client_id=robot-17&scope=a%20b&audience=https%3A%2F%2Fcloud.example"))
      << form;
  std::string claims = jwt_in(form, "client_assertion");
  EXPECT_TRUE(claims.starts_with(R"({"iss":"robot-17","sub":"robot-17","aud":")" + login.url() +
                                 R"(","jti":")"))
      << claims;
  const auto seconds_in = [&](const std::string& name) {
    return std::stoll(claims.substr(claims.find("\"" + name + "\":") + name.size() + 3));
  };
  EXPECT_EQ(seconds_in("exp") - seconds_in("iat"), 900);
  EXPECT_GE(std::time(nullptr) - seconds_in("iat"), 30) << "clocks differ a little";
  c.set({"token.source", "jwt_bearer"});
  c.set({"token.jwt_issuer", "registry-17"});
  c.set({"token.jwt_audience", "vendor"});
  c.set({"token.jwt_claims.prn", "robot-17"});
  c.set({"token.jwt_key_id", "k-1"});
  form = asked(c);
  EXPECT_TRUE(form.starts_with(
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=ey"))
      << form;
  claims = jwt_in(form, "assertion");
  EXPECT_TRUE(claims.starts_with(
      R"({"prn":"robot-17","iss":"registry-17","sub":"registry-17","aud":"vendor","jti":")"))
      << claims;
}

TEST_F(Tokens, ARobotSignsItsOwnAndIsToldWhyItIsRefused) {
  const KeyPair old = rsa_key(), fresh = rsa_key();
  const std::string pem = file("key.pem", pem_of(old));
  std::atomic<bool> revoked{false};
  accepts = [&](const std::string& shown) {
    return !claims_signed_by(revoked ? fresh : old, shown).empty();
  };
  Running running(with({{"token.source", "signed_jwt"},
                        {"token.jwt_key_file", pem},
                        {"token.jwt_issuer", "robot-17"},
                        {"token.jwt_audience", "https://cloud.example/token"}}));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  EXPECT_EQ(running.get("a").code, Code::ok);
  date = "Date: Mon, 24 Nov 2025 16:00:00 GMT\r\n";
  revoked = true;
  EXPECT_EQ(running.get("a").code, Code::unauthenticated);
  EXPECT_TRUE(says(running, "the API server does not accept the credentials (401): "));
  const std::string health = running.host.health_reason();
  for (const std::string& part :
       {std::string("the token is a JWT of issuer \"robot-17\", subject \"robot-17\", audience "
                    "\"https://cloud.example/token\": is the public key of \"") +
            pem + "\" (SHA-256 ",
        std::string("...) registered there for \"robot-17\", and not revoked?"),
        std::string("; the clock of this machine is ")})
    EXPECT_NE(health.find(part), std::string::npos) << health;
  EXPECT_EQ(health.find("eyJ"), std::string::npos) << "no token";
  file("key.pem", pem_of(fresh));
  EXPECT_TRUE(running.host.run_until([&] { return running.get("a").code == Code::ok; }, patience));
  EXPECT_TRUE(serves(running));
}

TEST_F(Tokens, AMetadataServerAnswersWithIt) {
  const std::string jwt = "eyJhIjoxfQ." + base64(R"({"exp":99999999999})").substr(0, 26) + ".c2ln";
  accepts = [&](const std::string& shown) { return shown == jwt; };
  login.answer([&](const std::string&) { return http("200 OK", jwt + "\n"); });
  Running running(with({{"token.source", "metadata"},
                        {"token.url", login.url() + "/identity"},
                        {"token.audience", "https://a?b"}}));
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_TRUE(login.requests()[0].starts_with("GET /identity?audience=https%3A%2F%2Fa%3Fb "))
      << login.requests()[0];
  EXPECT_EQ(running.host.metric("davit_cluster_token_expiry_timestamp_seconds"), 99'999'999'999);
}

TEST_F(Tokens, ItGoesBeforeTheTokenOfTheKubeconfig) {
  Config c = config(api.port, {}, "token: from-the-kubeconfig");
  const Config other = client();
  for (const auto& entry : other.entries())
    if (entry.key != "server") c.set(entry);
  Running running(c);
  ASSERT_TRUE(running.up.ok()) << running.up.error().message;
  EXPECT_EQ(running.get("a").code, Code::ok);
  EXPECT_EQ(refused, 0);
}

TEST_F(Tokens, SettingsThatDoNotFitAreSaid) {
  const std::string key = file("key.pem", pem_of(rsa_key()));
  const auto made_with = [&](std::initializer_list<Config::Entry> more) {
    testing::TestHost host("cluster", with(more));
    testing::Instance instance(plugin(), host);
    const auto r = instance.create();
    std::string out = r.ok() ? "" : r.error().message;
    for (const auto& fault : host.faults()) out += "\n" + fault;
    return out;
  };
  const Config::Entry signs{"token.source", "signed_jwt"}, with_key{"token.jwt_key_file", key};
  const struct {
    std::string made, says;
  } rows[] = {
      {made_with({}), "without a kubeconfig there are no credentials"},
      {made_with({{"token.source", "oauth"}}), "must be \"client_credentials\""},
      {made_with({{"token.source", "metadata"}}), "url"},
      {made_with({signs}), "the private key that signs the JWT"},
      {made_with({signs, with_key}), "is needed: who signs the JWT"},
      {made_with({signs, with_key, {"token.jwt_issuer", "x"}}), "is needed: who accepts the JWT"},
      {made_with({signs,
                  with_key,
                  {"token.jwt_issuer", "x"},
                  {"token.jwt_audience", "y"},
                  {"token.jwt_algorithm", "ES256"}}),
       "it has an RSA key, and jwt_algorithm is ES256"},
      {made_with({signs,
                  {"token.jwt_key_file", "/nowhere/key"},
                  {"token.jwt_issuer", "x"},
                  {"token.jwt_audience", "y"}}),
       "/nowhere/key"},
      {made_with({signs, with_key, {"token.jwt_claims.exp", "x"}}), "\"exp\" is not set here"},
      {made_with({{"token.source", "client_credentials"},
                  {"token.url", "https://a"},
                  {"token.client_id", "x"}}),
       "either it or jwt_key_file is needed"},
      {made_with({{"kubeconfig", "/x"}, signs}), "cannot be set beside `kubeconfig`"},
  };
  for (const auto& row : rows)
    EXPECT_NE(row.made.find(row.says), std::string::npos) << row.says << ": " << row.made;
}

}  // namespace
}  // namespace davit::cluster_kubernetes
