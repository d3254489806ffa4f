#include "rpc/connect/timeout.hpp"

#include <gtest/gtest.h>

#include "rpc/connect/request_head.hpp"

namespace davit::host {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(ConnectTimeout, IsUpToTenDigits) {
  EXPECT_EQ(read_connect_timeout("0"), 0ms);
  EXPECT_EQ(read_connect_timeout("1"), 1ms);
  EXPECT_EQ(read_connect_timeout("5000"), 5s);
  EXPECT_EQ(read_connect_timeout("0000000007"), 7ms);
  EXPECT_EQ(read_connect_timeout("9999999999"), 9'999'999'999ms);
}

TEST(ConnectTimeout, IsNothingElse) {
  for (const char* bad : {"", " ", "-1", "+1", "1.5", "1e3", "0x10", " 1", "1 ", "1,2", "5, 5",
                          "10000000000", "00000000001", "99999999999999999999999", "1S", "٣"}) {
    EXPECT_EQ(read_connect_timeout(bad), std::nullopt) << bad;
  }
}

TEST(GrpcTimeout, IsUpToEightDigitsAndAUnit) {
  EXPECT_EQ(read_grpc_timeout("1H"), 1h);
  EXPECT_EQ(read_grpc_timeout("1M"), 1min);
  EXPECT_EQ(read_grpc_timeout("1S"), 1s);
  EXPECT_EQ(read_grpc_timeout("100m"), 100ms);
  EXPECT_EQ(read_grpc_timeout("2000u"), 2ms);
  EXPECT_EQ(read_grpc_timeout("99999999n"), 100ms);
  EXPECT_EQ(read_grpc_timeout("99999999S"), 99'999'999s);
  EXPECT_EQ(read_grpc_timeout("00000001S"), 1s);
  EXPECT_EQ(read_grpc_timeout("0n"), 0ms);
}

TEST(GrpcTimeout, IsNothingElse) {
  for (const char* bad : {"", "S", "1", "100", "1s", "1h", "1ms", "1 S", " 1S", "1S ", "-1S", "+1S",
                          "1.5S", "100000000S", "000000001S", "1SS", "1S, 1S", "m1", "1\xc2\xb5"}) {
    EXPECT_EQ(read_grpc_timeout(bad), std::nullopt) << bad;
  }
}

TEST(GrpcTimeout, PartsOfAMillisecondAreRoundedUp) {
  EXPECT_EQ(read_grpc_timeout("1n"), 1ms);
  EXPECT_EQ(read_grpc_timeout("1u"), 1ms);
  EXPECT_EQ(read_grpc_timeout("1000u"), 1ms);
  EXPECT_EQ(read_grpc_timeout("1001u"), 2ms);
  EXPECT_EQ(read_grpc_timeout("1000001n"), 2ms);
}

TEST(GrpcTimeout, NoSumWithAClockOverflows) {
  for (const char* huge : {"99999999H", "99999999M", "876001H"}) {
    const auto t = read_grpc_timeout(huge);
    ASSERT_TRUE(t) << huge;
    EXPECT_EQ(*t, timeout_max) << huge;
    const nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_LT(*t, nanoseconds::max() - now);
  }
  EXPECT_EQ(read_grpc_timeout("876000H"), timeout_max);
  EXPECT_EQ(read_grpc_timeout("875999H"), timeout_max - 1h);
}

struct Written {
  nanoseconds timeout;
  const char* text;
};

TEST(GrpcTimeout, IsWrittenInTheLargestUnitThatSaysTheSame) {
  const Written table[] = {
      {1s, "1S"}, {100ms, "100m"}, {1500ms, "1500m"}, {90s, "90S"},    {1min, "1M"},
      {2h, "2H"}, {1us, "1u"},     {1ns, "1n"},       {999ns, "999n"}, {99'999'999ns, "99999999n"},
  };
  for (const auto& [timeout, text] : table) EXPECT_EQ(grpc_timeout(timeout), text);
}

TEST(GrpcTimeout, IsWrittenRoundedUpWhenItHasTooManyDigits) {
  const Written table[] = {
      {100'000'001ns, "100001u"}, {1s + 1ns, "1000001u"},          {100s + 1ns, "100001m"},
      {28h + 1ns, "100801S"},     {99'999'999s + 1ns, "1666667M"}, {nanoseconds::max(), "2562048H"},
  };
  for (const auto& [timeout, text] : table) EXPECT_EQ(grpc_timeout(timeout), text);
}

TEST(GrpcTimeout, OfATimeThatIsOverIsTheShortestThereIs) {
  for (const nanoseconds over : {0ns, -1ns, nanoseconds::min()}) {
    EXPECT_EQ(grpc_timeout(over), "1n");
  }
}

TEST(GrpcTimeout, IsNeverReadAsLessThanWasMeant) {
  for (nanoseconds t = 1ns; t < timeout_max / 3; t = t * 3 + 1ns) {
    const auto back = read_grpc_timeout(grpc_timeout(t));
    ASSERT_TRUE(back) << t.count();
    EXPECT_GE(nanoseconds(*back), t);
    EXPECT_LE(nanoseconds(*back), t + t / 100'000 + 1ms) << t.count();
  }
}

}  // namespace
}  // namespace davit::host
