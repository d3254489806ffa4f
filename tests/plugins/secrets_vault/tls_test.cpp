// TLS: a CA of its own, client certificates, HTTP/2, and files that are replaced.
#include "tls_fixture.hpp"

namespace davit::secrets_vault {
namespace {

TEST_F(Tls, ACaOfItsOwnIsTrustedAndHttp2IsSpokenOnRequest) {
  for (const char* http : {"1.1", "2"}) {
    serve(http);
    for (const bool http2 : {false, true}) {
      Life life(tls_config({{"http2", http2}}));
      ASSERT_TRUE(life.up.ok()) << life.up.error().message;
      for (int n = 0; n < 3; ++n) EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
      const auto answer = server_->ask(R"({"do": "calls"})");
      const std::string_view said = http2 && http == std::string_view("2") ? "2.0" : "1.1";
      for (const auto& call : answer.at("calls").as_array())
        EXPECT_EQ(call.at("http").as_string(), said);
    }
  }
}

TEST_F(Tls, OverHttp2TroubleIsToldTheSame) {
  serve("2");
  Life life(tls_config({{"http2", true}}));
  for (const auto& [as, code] : {std::pair{R"("cut")", Code::unavailable},
                                 {R"("cut_late")", Code::unavailable},
                                 {R"("garbage")", Code::unavailable},
                                 {R"("huge", "bytes": 104857600)", Code::resource_exhausted},
                                 {R"("fail", "code": "internal")", Code::invalid_argument}}) {
    server_->ask(std::string(R"({"do": "behave", "as": )") + as + "}");
    const auto result = life.resolve_one(item("e", "1"));
    EXPECT_EQ(code_of(result), code) << as << ": " << told(result);
    EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1") << as;
  }
}

TEST_F(Tls, WithoutTheCaNobodyIsTrusted) {
  serve("1.1");
  Config config = tls_config();
  config.erase("ca_file");
  Life life(config);
  const auto result = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(result), Code::unavailable);
  EXPECT_TRUE(has(told(result), "certificate")) << told(result);
  EXPECT_TRUE(server_->ask(R"({"do": "calls"})").at("calls").as_array().empty());
}

TEST_F(Tls, ACertificateOfAnotherHostIsRefused) {
  authority_->issue("server", "DNS:vault.example");
  serve("1.1");
  Life life(tls_config());
  const auto result = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(result), Code::unavailable);
  EXPECT_TRUE(has(told(result), "127.0.0.1")) << told(result);
}

TEST_F(Tls, AnotherCaIsTakenWithoutARestart) {
  serve("1.1");
  Authority other(directory_.path(), "other");
  write(file("ca.crt"), "");
  std::filesystem::copy_file(other.certificate(), file("ca.crt"),
                             std::filesystem::copy_options::overwrite_existing);
  Life life(tls_config({{"ca_file", file("ca.crt")}}));
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
  std::filesystem::copy_file(authority_->certificate(), file("ca.crt"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
  write(file("ca.crt"), "half a certif");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1") << "what it had before stays in use";
  EXPECT_TRUE(life.host.logged("a TLS file cannot be read"));
}

TEST_F(Tls, AClientCertificateIsShownAndTakenAnewWhenItIsReplaced) {
  Authority clients(directory_.path(), "clients"), strangers(directory_.path(), "strangers");
  serve("1.1", R"(, "client_ca": ")" + clients.certificate() + "\"");
  {
    Life life(tls_config());
    EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable) << "it shows none";
  }
  strangers.issue("me");
  Life life(tls_config({{"certificate_file", file("me.crt")}, {"key_file", file("me.key")}}));
  EXPECT_EQ(code_of(life.resolve_one(item("e", "1"))), Code::unavailable);
  clients.issue("me");
  EXPECT_EQ(told(life.resolve_one(item("e", "1"))), "1");
}

TEST_F(Tls, ACertificateWithAnotherKeyIsSaid) {
  serve("1.1");
  authority_->issue("me");
  authority_->issue("other");
  Life life(tls_config({{"certificate_file", file("me.crt")}, {"key_file", file("other.key")}}));
  const auto result = life.resolve_one(item("e", "1"));
  EXPECT_EQ(code_of(result), Code::unavailable);
  EXPECT_TRUE(has(told(result), "key")) << told(result);
  EXPECT_TRUE(life.host.logged("the vault does not answer as it should"));
  EXPECT_EQ(life.host.health(), DAVIT_HEALTH_SERVING) << "the Vault may be well";
  EXPECT_TRUE(server_->ask(R"({"do": "calls"})").at("calls").as_array().empty());
}

}  // namespace
}  // namespace davit::secrets_vault
