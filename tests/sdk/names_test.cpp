#include <davit/names.hpp>

#include <gtest/gtest.h>

namespace davit {
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

TEST(Names, OfLabelsMayHaveAPrefix) {
  for (const char* good : {"", "example.com/", "a/"})
    EXPECT_FALSE(label_prefix_fault(good)) << good;
  for (const char* bad : {"/", "example.com", "Example.com/", "a b/"})
    EXPECT_TRUE(label_prefix_fault(bad)) << bad;
}

}  // namespace
}  // namespace davit
