#include <davit/code_names.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(CodeNames, EachCodeHasItsWordAndNoOtherWordIsOne) {
  for (int32_t number = 0; number <= 16; ++number) {
    const auto code = static_cast<Code>(number);
    ASSERT_FALSE(word_of(code).empty());
    EXPECT_EQ(code_of_word(word_of(code)), code);
  }
  EXPECT_EQ(word_of(Code::ok), "OK");
  EXPECT_EQ(word_of(Code::failed_precondition), "FAILED_PRECONDITION");
  EXPECT_EQ(word_of(Code::unauthenticated), "UNAUTHENTICATED");
  EXPECT_EQ(word_of(static_cast<Code>(17)), "");
  EXPECT_EQ(word_of(static_cast<Code>(-1)), "");
  for (const char* none : {"", "ok", "not_found", "NOT_FOUND "})
    EXPECT_EQ(code_of_word(none), std::nullopt) << none;
}

}  // namespace
}  // namespace davit
