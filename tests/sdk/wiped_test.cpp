// Bytes that grow and are wiped.
#include <davit/wiped.hpp>

#include <gtest/gtest.h>
#include <string>

namespace davit {
namespace {

TEST(Wiped, KeepsWhatIsAppendedHoweverMuch) {
  Wiped wiped;
  std::string wanted;
  EXPECT_TRUE(wiped.empty());
  for (size_t size : {0, 1, 4'095, 1, 5'000, 100'000, 3}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    wiped.append(piece);
    wanted += piece;
    ASSERT_TRUE(wiped.view() == wanted);
  }
}

TEST(Wiped, KeepsItThroughMoves) {
  Wiped first("text");
  Wiped second(std::move(first));
  EXPECT_EQ(second.view(), "text");
  Wiped third("another");
  third = std::move(second);
  EXPECT_EQ(third.view(), "text");
}

TEST(Wiped, OverwritesWhatItLetsGoOf) {
  Wiped wiped("text");
  const char* at = wiped.view().data();
  wiped.clear();
  EXPECT_EQ(std::string(at, 4), std::string(4, '\0'));
  EXPECT_EQ(wiped.view(), "");
  wiped.append("new");
  EXPECT_EQ(wiped.view(), "new");
}

}  // namespace
}  // namespace davit
