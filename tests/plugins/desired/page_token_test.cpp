#include <gtest/gtest.h>

#include "page_token.hpp"

namespace davit::desired {
namespace {

TEST(PageToken, ComesBackAsItWas) {
  EXPECT_EQ(*from_token(to_token({7, 12})), (Cursor{7, 12}));
  EXPECT_EQ(*from_token(""), Cursor{});
}

TEST(PageToken, AnythingElseIsRefused) {
  for (const char* bad :
       {"7", "7:", ":7", "a:b", "7:12 ", "7:12:3", "-1:4", "99999999999999999999:1"}) {
    auto r = from_token(bad);
    ASSERT_FALSE(r.ok()) << bad;
    EXPECT_EQ(r.error().code, Code::invalid_argument);
    EXPECT_EQ(r.error().where, "page_token");
  }
}

}  // namespace
}  // namespace davit::desired
