// An error on its way over the boundary, where its texts have a fixed size.
#include <gtest/gtest.h>

#include <davit/types.hpp>

namespace davit {
namespace {

// "é" is two bytes: a text that is longer than the room for it must not end in half of one, for
// such a message goes on into protobuf strings, and one of them that is no UTF-8 makes the whole
// message unreadable.
TEST(Error, IsCutBetweenCharacters) {
  for (const size_t before : {0u, 1u}) {
    std::string long_text(before, 'x');
    while (long_text.size() < 2000) long_text += "é";
    davit_error abi{};
    fill(&abi, {Code::invalid_argument, long_text, long_text});
    const Error got = take(abi, abi.code);
    EXPECT_EQ((got.message.size() - before) % 2, 0u);
    EXPECT_EQ((got.where.size() - before) % 2, 0u);
    EXPECT_GE(got.message.size(), sizeof abi.message - 2);
    EXPECT_EQ(long_text.rfind(got.message, 0), 0u);
  }
}

TEST(Error, KeepsATextThatFits) {
  davit_error abi{};
  fill(&abi, {Code::not_found, "größe", "grün", std::chrono::milliseconds(7)});
  const Error got = take(abi, abi.code);
  EXPECT_EQ(got.message, "größe");
  EXPECT_EQ(got.where, "grün");
  EXPECT_EQ(got.retry_after.count(), 7);
}

}  // namespace
}  // namespace davit
