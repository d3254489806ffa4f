// What an exec plugin is given, and what it may answer.
#include "exec_plugin.hpp"

#include <gtest/gtest.h>

namespace davit::cluster_kubernetes {
namespace {

const std::string v1 = "client.authentication.k8s.io/v1";

ExecPlugin plugin(std::string version = v1) {
  ExecPlugin out;
  out.api_version = std::move(version);
  out.info = "{}";
  return out;
}

std::string answer(const std::string& status, const std::string& version = v1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":)" + status + "}";
}

std::string fault_of(const std::string& output) {
  const auto made = parse_exec_credential(output, plugin());
  return made.ok() ? "ok" : made.error().message;
}

TEST(ExecPlugin, AnswersATokenOrACertificateWithItsKey) {
  auto made = parse_exec_credential(
      answer(R"({"token":"abc","expirationTimestamp":"2026-11-28T10:00:00Z"})"), plugin());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->token.view(), "abc");
  EXPECT_EQ(made->expires_unix_ms, 1'795'860'000'000);
  const std::string pem = R"("-----BEGIN X-----\n-----END X-----")";
  made = parse_exec_credential(
      answer(R"({"clientCertificateData":)" + pem + R"(,"clientKeyData":)" + pem + "}"), plugin());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made->token.view().empty());
  EXPECT_TRUE(made->certificate.starts_with("-----BEGIN X"));
  EXPECT_EQ(made->certificate, made->key.view());
  EXPECT_FALSE(made->expires_unix_ms);
}

TEST(ExecPlugin, EveryFaultOfAnAnswerIsNamedAndNothingOfItIsShown) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "its answer is no JSON object"},
      {"rubbish SECRET", "its answer is no JSON object"},
      {"[]", "its answer is no JSON object"},
      {answer("{\"token\":\"a\"}") + "x", "its answer is no JSON object"},
      {R"({"kind":"Status","apiVersion":"v1"})", "its answer is no ExecCredential"},
      {answer(R"({"token":"SECRET"})", "client.authentication.k8s.io/v1beta1"),
       "its answer has the apiVersion \"client.authentication.k8s.io/v1beta1\", and the kubeconfig "
       "names \"client.authentication.k8s.io/v1\""},
      {R"({"kind":"ExecCredential","apiVersion":")" + v1 + "\"}", "its answer has no status"},
      {answer("{}"), "its answer has neither a token nor a client certificate"},
      {answer(R"({"token":17})"), "its answer has neither a token nor a client certificate"},
      {answer(R"({"token":"SECRET\nX: y"})"),
       "its answer has a token with characters that no token has"},
      {answer(R"({"clientKeyData":"SECRET"})"),
       "its answer has only one of clientCertificateData and clientKeyData"},
      {answer(R"({"clientCertificateData":"x","clientKeyData":"SECRET"})"),
       "its answer has a client certificate or a key that is no PEM"},
      {answer(R"({"token":"SECRET","expirationTimestamp":"tomorrow"})"),
       "its answer has an expirationTimestamp that is no time"},
  };
  for (const auto& [output, expected] : rows) EXPECT_EQ(fault_of(output), expected) << output;
}

TEST(ExecPlugin, TimesAreThoseOfRfc3339) {
  const std::vector<std::pair<std::string, std::optional<int64_t>>> rows = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T01:00:00.25+01:00", 250},
      {"1970-01-01T00:00:00.123456789Z", 123},
      {"1969-12-31T23:00:00-01:00", std::nullopt},  // nothing expires before 1970
      {"2024-02-29T12:00:00Z", 1'709'208'000'000},
      {"2024-02-29", std::nullopt},
      {"2024-02-29T12:00:00", std::nullopt},
      {"2024-13-29T12:00:00Z", std::nullopt},
      {"-024-01-29T12:00:00Z", std::nullopt},
      {"2024-01-29T12:00:00+1", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(parse_rfc3339_ms(text), expected) << text;
}

TEST(ExecPlugin, TheEnvironmentIsKeptAndAddedTo) {
  ExecPlugin p = plugin();
  p.env = {{"A", "1"}, {"A", "2"}, {"B", ""}};
  EXPECT_EQ(
      exec_environment(p, {"PATH=/bin", "A=0", "AB=3", "KUBERNETES_EXEC_INFO=old"}),
      (std::vector<std::string>{"PATH=/bin", "AB=3", "A=2", "B=", "KUBERNETES_EXEC_INFO={}"}));
}

TEST(ExecPlugin, WhatAProgramSaysIsOneShortLine) {
  EXPECT_EQ(one_line("  \x1b[31mUnable to\n\tlocate\x1b[0m credentials\n\n"),
            "Unable to locate credentials");
  EXPECT_EQ(one_line("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(one_line("a\xff\xfez"), "a??z");
  EXPECT_EQ(one_line(std::string(2'000, 'x')), "..." + std::string(500, 'x'));
  std::string long_one;
  for (int i = 0; i < 1'000; ++i) long_one += "\xc3\xa9";
  EXPECT_TRUE(one_line(long_one + "x").starts_with("...\xc3\xa9")) << "no half character";
}

}  // namespace
}  // namespace davit::cluster_kubernetes
