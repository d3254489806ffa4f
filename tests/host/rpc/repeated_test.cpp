#include "rpc/repeated.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(Repeated, LogsTheFirstAndThenOnceAMinuteWithTheCount) {
  Repeated repeated;
  const Repeated::Time t{};
  using std::chrono::seconds;
  EXPECT_EQ(repeated.log("a", t), 0u);
  EXPECT_EQ(repeated.log("a", t + seconds(1)), std::nullopt);
  EXPECT_EQ(repeated.log("b", t + seconds(1)), 0u);
  EXPECT_EQ(repeated.log("a", t + seconds(59)), std::nullopt);
  EXPECT_EQ(repeated.log("a", t + seconds(60)), 2u);
  EXPECT_EQ(repeated.log("a", t + seconds(61)), std::nullopt);
  EXPECT_EQ(repeated.log("a", t + seconds(120)), 1u);
}

TEST(Repeated, IsBounded) {
  Repeated repeated;
  for (size_t i = 0; i < 3 * Repeated::keys_max; ++i) repeated.log(std::to_string(i), {});
  EXPECT_EQ(repeated.log("0", {}), 0u);  // forgotten long ago
}

}  // namespace
}  // namespace davit::host
