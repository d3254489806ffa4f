#include "services/host_and_port.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(HostAndPort, AreTheTwoPartsOfAnAddress) {
  EXPECT_EQ(host_and_port("127.0.0.1:7070"), (HostAndPort{"127.0.0.1", 7070}));
  EXPECT_EQ(host_and_port("example.com:443"), (HostAndPort{"example.com", 443}));
  EXPECT_EQ(host_and_port("[::1]:0"), (HostAndPort{"::1", 0}));
  EXPECT_EQ(host_and_port("[fe80::1]:65535"), (HostAndPort{"fe80::1", 65535}));
}

TEST(HostAndPort, AreNotReadFromAnythingElse) {
  for (const char* text : {"", ":", "9100", ":9100", "host", "host:", "host:70000",
                           "host:99999999999999999999", "host:9x", "host:-1", "host:+1", "host: 1",
                           "[]:1", "[::1]", "[::1", "[::1:1", "::1]:1", "a[b]:1"}) {
    EXPECT_FALSE(host_and_port(text)) << text;
  }
}

// The last part of an IPv6 address is not its port.
TEST(HostAndPort, NeedTheBracketsOfAnIpv6Address) {
  for (const char* text : {"::1", "::1:9100", "fe80::1:80", "::"})
    EXPECT_FALSE(host_and_port(text)) << text;
}

}  // namespace
}  // namespace davit::host
