// Proxies, and the headers of impersonation.
#include "proxy.hpp"

#include <gtest/gtest.h>

#include "impersonation.hpp"

namespace davit::cluster_kubernetes {
namespace {

using Variables = std::map<std::string, std::string>;

std::string chosen(const std::string& url, const Variables& variables,
                   const std::string& own = {}) {
  return proxy_for(own, url, [&](const std::string& name) {
    return variables.contains(name) ? variables.at(name) : std::string();
  });
}

TEST(Proxy, ThatOfTheKubeconfigGoesFirstWhateverTheEnvironmentSays) {
  const Variables all = {{"HTTPS_PROXY", "http://env:1"}, {"NO_PROXY", "*"}};
  EXPECT_EQ(chosen("https://api", all, "https://own:2"), "https://own:2");
  EXPECT_EQ(chosen("https://127.0.0.1:6443", {}, "http://own:2"), "http://own:2");
  EXPECT_EQ(chosen("https://api", {}, "socks5://own:2"), "socks5h://own:2")
      << "the proxy resolves the name";
}

TEST(Proxy, TheEnvironmentNamesOneForEachScheme) {
  const Variables both = {{"HTTPS_PROXY", "s:1"}, {"http_proxy", "http://h:2"}};
  EXPECT_EQ(chosen("https://api:6443", both), "http://s:1");
  EXPECT_EQ(chosen("http://api", both), "http://h:2");
  EXPECT_EQ(chosen("https://api", {}), "");
  EXPECT_EQ(chosen("https://localhost:6443", both), "") << "never for this machine";
  EXPECT_EQ(chosen("https://[::1]:6443", both), "");
  EXPECT_EQ(chosen("https://127.3.2.1", both), "");
}

TEST(Proxy, NoProxyMeansWhatItMeansForKubectl) {
  const std::vector<std::tuple<std::string, std::string, bool>> rows = {
      {"https://api.corp.example:6443", "other, corp.example", true},
      {"https://api.corp.example", ".corp.example", true},
      {"https://api.corp.example", "*.corp.example", true},
      {"https://corp.example", ".corp.example", false},
      {"https://corp.example", "corp.example", true},
      {"https://badcorp.example", "corp.example", false},
      {"https://API.corp.example", "api.CORP.example", true},
      {"https://api.corp.example:6443", "corp.example:6443", true},
      {"https://api.corp.example", "corp.example:6443", false},
      {"https://10.1.2.3:6443", "10.0.0.0/8", true},
      {"https://11.1.2.3:6443", "10.0.0.0/8", false},
      {"https://10.1.2.3:6443", "10.1.2.3", true},
      {"https://10.1.2.3:6443", "10.1.2.3:443", false},
      {"https://[fd00::1]:6443", "fd00::/16", true},
      {"https://[fd00::1]:6443", "fd00::1", true},
      {"https://[fd01::1]:6443", "fd00::/16", false},
      {"https://10.1.2.3", "10.0.0.0/99", false},
      {"https://api", "*", true},
      {"https://api", " , ", false},
  };
  for (const auto& [url, no_proxy, direct] : rows) {
    const Variables v = {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", no_proxy}};
    EXPECT_EQ(chosen(url, v).empty(), direct) << url << " " << no_proxy;
  }
}

TEST(Proxy, OnlyUrlsOfProxiesAreTaken) {
  for (const char* good : {"", "http://p:1", "https://u:pw@p", "socks5://p:1", "socks5h://p"})
    EXPECT_FALSE(proxy_fault(good)) << good;
  for (const char* bad : {"p:1", "ftp://p", "http://", "http://p q", "socks4://p"})
    EXPECT_EQ(proxy_fault(bad), "must be a http, https or socks5 URL") << bad;
}

TEST(Impersonation, HeadersAreThoseOfKubernetes) {
  Impersonation as;
  EXPECT_TRUE(headers_of(as).empty());
  as.user = "jane";
  as.uid = "u-1";
  as.groups = {"dev", "ops"};
  as.extra = {{"acme.com/project", "x"}, {"acme.com/project", "y"}, {"100%", "z"}};
  EXPECT_EQ(headers_of(as), (Pairs{{"Impersonate-User", "jane"},
                                   {"Impersonate-Uid", "u-1"},
                                   {"Impersonate-Group", "dev"},
                                   {"Impersonate-Group", "ops"},
                                   {"Impersonate-Extra-acme.com%2Fproject", "x"},
                                   {"Impersonate-Extra-acme.com%2Fproject", "y"},
                                   {"Impersonate-Extra-100%25", "z"}}));
}

}  // namespace
}  // namespace davit::cluster_kubernetes
