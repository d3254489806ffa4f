// Every file in scenarios/ is one story of a cluster in miniature (world.hpp).
#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

#include "world.hpp"

namespace davit::deployment::test {
namespace {

class Scenario : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenario, GoesAsTold) {
  World world;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return world.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, Scenario,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/scenarios")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::deployment::test
