#include <davit/kubernetes/names.hpp>
#include <davit/utf8.hpp>

#include <gtest/gtest.h>

namespace davit::kubernetes {
namespace {

TEST(Names, OfServicesBeginWithALetterAndAreShort) {
  for (const char* good : {"a", "web", "web-1", "a0-b"})
    EXPECT_FALSE(service_name_fault(good)) << good;
  for (const char* bad : {"", "1web", "Web", "web.api", "-web", "web-", "web_1"})
    EXPECT_TRUE(service_name_fault(bad)) << bad;
  EXPECT_FALSE(service_name_fault(std::string(63, 'a')));
  EXPECT_TRUE(service_name_fault(std::string(64, 'a')));
  EXPECT_EQ(service_name_fault("abcd", 3),
            "must be a Service's name (at most 3 lower-case letters, digits and \"-\", beginning "
            "with a letter), not \"abcd\"");
}

// Half a character in an error spoils the report that carries it.
TEST(Names, AreCutBetweenCharactersWhereTheyAreShown) {
  const std::string wide = std::string(79, 'w') + "\xc3\xa9 and more";  // 79 bytes and an é
  const auto fault = dns_label_fault(wide);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(valid_utf8(*fault)) << *fault;
  EXPECT_TRUE(fault->ends_with(std::string(79, 'w') + "...\" (90 bytes)")) << *fault;
}

TEST(Utf8, IsShortenedByWholeCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc...");
  EXPECT_EQ(shortened("ab\xc3\xa9", 3), "ab...");
  EXPECT_EQ(shortened("ab\xc3\xa9", 4), "ab\xc3\xa9");
  EXPECT_EQ(shortened("\xf0\x91\xa9\x8a", 3), "...");
}

TEST(Names, OfLabelsMayHaveAPrefix) {
  for (const char* good : {"", "example.com/", "a/"})
    EXPECT_FALSE(label_prefix_fault(good)) << good;
  for (const char* bad : {"/", "example.com", "Example.com/", "a b/"})
    EXPECT_TRUE(label_prefix_fault(bad)) << bad;
}

}  // namespace
}  // namespace davit::kubernetes
