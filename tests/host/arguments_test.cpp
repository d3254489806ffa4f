#include "commands/arguments.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

using Words = std::vector<std::string>;

TEST(Arguments, TakesOptionsOutAndLeavesTheRest) {
  Arguments a({"deployment", "-o", "json", "--wait", "x", "--region=eu", "-"});
  EXPECT_EQ(a.option("-o", "--output"), "json");
  EXPECT_EQ(a.option("--region"), "eu");
  EXPECT_EQ(a.option("--socket"), std::nullopt);
  EXPECT_TRUE(a.flag("--wait"));
  EXPECT_FALSE(a.flag("--wait"));
  EXPECT_EQ(a.unknown(), std::nullopt);
  EXPECT_EQ(a.rest(), (Words{"deployment", "x", "-"}));
}

TEST(Arguments, TheLastOfAnOptionWins) {
  Arguments a({"-o", "json", "--output", "yaml"});
  EXPECT_EQ(a.option("-o", "--output"), "yaml");
  EXPECT_TRUE(a.rest().empty());
}

TEST(Arguments, NamesWhatNobodyKnows) {
  Arguments a({"x", "--foo"});
  EXPECT_EQ(a.unknown(), "unknown option --foo");
}

TEST(Arguments, NamesAnOptionWithoutItsValue) {
  Arguments a({"x", "-o"});
  EXPECT_EQ(a.option("-o"), std::nullopt);
  EXPECT_EQ(a.unknown(), "option -o needs a value");
}

TEST(Arguments, ReadsLengthsOfTimeAndNamesWhatIsNone) {
  Arguments a({"--timeout", "5m", "--retention=soon"});
  EXPECT_EQ(a.duration("--timeout"), std::chrono::minutes(5));
  EXPECT_EQ(a.duration("--patience"), std::nullopt);
  EXPECT_EQ(a.duration("--retention"), std::nullopt);
  EXPECT_EQ(a.unknown(), "--retention must be like 60s, 5m or 7d, not \"soon\"");
}

TEST(Arguments, AfterTwoDashesEverythingIsPositional) {
  Arguments a({"--", "--wait", "-o"});
  EXPECT_FALSE(a.flag("--wait"));
  EXPECT_EQ(a.option("-o"), std::nullopt);
  EXPECT_EQ(a.unknown(), std::nullopt);
  EXPECT_EQ(a.rest(), (Words{"--wait", "-o"}));
}

}  // namespace
}  // namespace davit::host
