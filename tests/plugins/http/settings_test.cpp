// The settings of all plugins that ask a server by HTTP, and URLs.
#include "http/settings.hpp"

#include <gtest/gtest.h>
#include <davit/testing/host.hpp>

#include "http/server_name.hpp"

namespace davit::http {
namespace {

using testing::Config;

// The faults of a configuration with this and a URL.
std::string faults(std::initializer_list<Config::Entry> entries) {
  Config config{{"url", "https://server.example"}};
  for (const auto& entry : entries) config.set(entry);
  testing::TestHost host("main", config);
  read_target(Settings(host), {});
  std::string out;
  for (const auto& fault : host.faults()) out += fault + "\n";
  return out;
}
bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HttpUrl, IsTakenApart) {
  const auto url = parse_url("https://vault.internal:8200/a/path/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->text, "https://vault.internal:8200/a/path");
  EXPECT_EQ(url->host, "vault.internal:8200");
  EXPECT_TRUE(url->tls);
  EXPECT_FALSE(url->loopback);
}

TEST(HttpUrl, KnowsTheOwnMachine) {
  for (const char* text : {"http://localhost:1", "http://127.0.0.1", "http://[::1]:1"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url.ok()) << text;
    EXPECT_TRUE(url->loopback) << text;
    EXPECT_EQ(doubt(*url), "") << text;
  }
  EXPECT_NE(doubt(*parse_url("http://vault")), "");
  EXPECT_EQ(doubt(*parse_url("https://vault")), "");
}

TEST(HttpUrl, WhatIsNoneIsRefusedAndNotShown) {
  for (const char* text :
       {"", "hidden", "hidden:8200", "//hidden", "ftp://hidden", "unix:/hidden", "http://",
        "http:///hidden", "http://hidden:port", "http://hidden:99999", "http://hid den",
        "http://hidden\r\n", "http://user:hidden@host", "http://hidden@host", "http://host?hidden",
        "http://host#hidden", "http://host/?"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().message.find("hidden"), std::string::npos) << url.error().message;
  }
}

TEST(HttpSettings, AreReadOrUsual) {
  Options usual;
  usual.response_bytes_max = 5'000;
  testing::TestHost plain("main", {{"url", "https://server"}});
  const Target defaults = read_target(Settings(plain), usual);
  EXPECT_EQ(plain.faults(), std::vector<std::string>());
  EXPECT_EQ(defaults.options.response_bytes_max, 5'000u);
  EXPECT_EQ(defaults.options.proxy, "");
  EXPECT_FALSE(defaults.options.http2);
  testing::TestHost all("main", {{"url", "https://server/"},
                                 {"ca_file", "ca"},
                                 {"certificate_file", "c"},
                                 {"key_file", "k"},
                                 {"tls_server_name", "vault.internal"},
                                 {"proxy", "http://proxy:3128"},
                                 {"http2", true},
                                 {"connect_timeout_ms", 1},
                                 {"request_timeout_ms", 2},
                                 {"response_bytes_max", 3'000}});
  const Target target = read_target(Settings(all), usual);
  EXPECT_EQ(all.faults(), std::vector<std::string>());
  EXPECT_EQ(target.url.text, "https://server");
  EXPECT_EQ(target.options.tls.ca_file, "ca");
  EXPECT_EQ(target.options.tls.certificate_file, "c");
  EXPECT_EQ(target.options.tls.key_file, "k");
  EXPECT_EQ(target.options.tls_server_name, "vault.internal");
  EXPECT_EQ(target.options.proxy, "http://proxy:3128");
  EXPECT_TRUE(target.options.http2);
  EXPECT_EQ(target.options.connect_timeout.count(), 1);
  EXPECT_EQ(target.options.request_timeout.count(), 2);
  EXPECT_EQ(target.options.response_bytes_max, 3'000u);
}

TEST(ServerName, TakesThePlaceOfTheUrlsHost) {
  const auto told = [](const char* url) {
    const Renamed r = renamed(url, "name");
    return r.url + " " + r.connect_to;
  };
  EXPECT_EQ(told("https://host:8200/v1/x:y"), "https://name:8200/v1/x:y name:8200:host:8200");
  EXPECT_EQ(told("https://host"), "https://name:443 name:443:host:443");
  EXPECT_EQ(told("https://[::1]/v1"), "https://name:443/v1 name:443:[::1]:443");
  EXPECT_EQ(told("https://[::1]:8200/v1"), "https://name:8200/v1 name:8200:[::1]:8200");
}

TEST(HttpSettings, WhatCannotBeIsRefused) {
  EXPECT_EQ(faults({}), "");
  EXPECT_EQ(faults({{"proxy", "environment"}}), "");
  EXPECT_TRUE(says(faults({{"url", ""}}), "url: is no URL"));
  EXPECT_TRUE(says(faults({{"url", "ftp://x"}}), "must begin with https:// or http://"));
  EXPECT_TRUE(
      says(faults({{"certificate_file", "c"}}), "certificate_file and key_file go together"));
  EXPECT_TRUE(says(faults({{"key_file", "c"}}), "certificate_file and key_file go together"));
  EXPECT_TRUE(says(faults({{"url", "http://x"}, {"ca_file", "c"}}), "needs an https:// url"));
  EXPECT_TRUE(
      says(faults({{"url", "http://x"}, {"tls_server_name", "c"}}), "needs an https:// url"));
  EXPECT_TRUE(says(faults({{"tls_server_name", "a:443"}}), "is no host's name"));
  EXPECT_TRUE(says(faults({{"proxy", "proxy:3128"}}), "proxy: "));
  EXPECT_TRUE(says(faults({{"proxy", "http://me:hidden@proxy"}}), "has a user or a password"));
  EXPECT_FALSE(says(faults({{"proxy", "http://me:hidden@proxy"}}), "hidden"));
  EXPECT_TRUE(says(faults({{"connect_timeout_ms", 0}}), "must be between"));
  EXPECT_TRUE(says(faults({{"request_timeout_ms", 0}}), "must be between"));
  EXPECT_TRUE(says(faults({{"response_bytes_max", 1}}), "must be between"));
}

}  // namespace
}  // namespace davit::http
