#include <davit/ascii.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(LowerCase, ChangesLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("AZaz09@[`{-_"), "azaz09@[`{-_");
  EXPECT_EQ(lower_case("\xc3\x84 \xc1"), "\xc3\x84 \xc1");
}

}  // namespace
}  // namespace davit
