#include "text_table.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(Output, NothingThatOthersSayMovesTheCursor) {
  EXPECT_EQ(harmless("parked: \033[2Jall is well\r\x7f"), "parked:  [2Jall is well  ");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            " 31m")
      << "U+009B is an escape, too";
  EXPECT_EQ(harmless("caf\xc3\xa9 \xc2\xa0"), "caf\xc3\xa9 \xc2\xa0");
}

}  // namespace
}  // namespace davit::host
