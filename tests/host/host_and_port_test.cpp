#include "services/host_and_port.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(HostAndPort, AreTheTwoPartsOfAnAddress) {
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(host_and_port("127.0.0.1:7070"), (Parts{"127.0.0.1", "7070"}));
  EXPECT_EQ(host_and_port("example.com:443"), (Parts{"example.com", "443"}));
  EXPECT_EQ(host_and_port("[::1]:0"), (Parts{"::1", "0"}));
}

}  // namespace
}  // namespace davit::host
