#include <davit/base64.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(Base64, IsThatOfRfc4648) {
  const std::pair<const char*, const char*> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xef\xfe", "/+/+"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, IsReadWithoutPaddingAndInTheAlphabetOfUrls) {
  EXPECT_EQ(from_base64("Zm8"), "fo");
  EXPECT_EQ(from_base64("Zg"), "f");
  EXPECT_EQ(from_base64("_-_-"), "\xff\xef\xfe");
}

TEST(Base64, RefusesWhatItHasNotWritten) {
  for (const char* text : {"Z", "Zg=", "Zm9v=", "Zh==", "Zm 9v", "Zm9v\n", "Z?==", "===="})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace davit
