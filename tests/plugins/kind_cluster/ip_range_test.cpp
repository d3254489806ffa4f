#include "ip_range.hpp"

#include <gtest/gtest.h>

namespace davit::cluster_record::test {
namespace {

TEST(IpRange, IsAnAddressAndALength) {
  for (const char* range : {"10.96.0.0/12", "0.0.0.0/0", "10.0.0.1/32", "10.0.0.1/8", "fd00::/108",
                            "::/0", "2001:db8::1/128", "::ffff:10.0.0.0/104"})
    EXPECT_FALSE(ip_range_fault(range)) << range;
}

TEST(IpRange, IsNothingElse) {
  for (const std::string range : {"",
                                  "/",
                                  "10.0.0.0",
                                  "10.0.0.0/",
                                  "10.0.0.0/33",
                                  "10.0.0.0/-1",
                                  "10.0.0.0/08",
                                  "10.0.0.0/+8",
                                  "10.0.0.0/8 ",
                                  " 10.0.0.0/8",
                                  "10.0.0.0/8/8",
                                  "10.0.0/8",
                                  "10.0.0.256/8",
                                  "010.0.0.0/8",
                                  "fd00::/129",
                                  "fd00::%eth0/64",
                                  "fd00:::/64",
                                  "host/8",
                                  "host/0",
                                  "/0",
                                  "10.0.0.0/99999999999999999999"})
    EXPECT_TRUE(ip_range_fault(range)) << range;
  EXPECT_TRUE(ip_range_fault(std::string("10.0.0.0\0/8", 11)));
  EXPECT_EQ(*ip_range_fault("10.0.0.0"),
            "must be a range of addresses, such as \"10.96.0.0/12\", not \"10.0.0.0\"");
}

}  // namespace
}  // namespace davit::cluster_record::test
