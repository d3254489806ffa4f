#include <davit/ascii.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(LowerCase, ChangesLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("AZaz09@[`{-_"), "azaz09@[`{-_");
  EXPECT_EQ(lower_case("\xc3\x84 \xc1"), "\xc3\x84 \xc1");
}

TEST(LowerFirst, ChangesTheFirstLetterOfAWordAndNoAbbreviation) {
  EXPECT_EQ(lower_first("No such file"), "no such file");
  EXPECT_EQ(lower_first("A value"), "a value");
  EXPECT_EQ(lower_first("SSL connect error"), "SSL connect error");
  EXPECT_EQ(lower_first("X"), "x");
  EXPECT_EQ(lower_first(""), "");
}

}  // namespace
}  // namespace davit
