#include "selector.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "names.hpp"

namespace davit::cluster_memory {
namespace {

TEST(Selector, LabelsMatchAsKubernetesDocuments) {
  const auto labels = boost::json::parse(R"({"app":"web","tier":"front","empty":""})").as_object();
  const std::vector<std::pair<std::string, bool>> rows = {
      {"", true},
      {"app=web", true},
      {"app==web", true},
      {"app=web,tier=front", true},
      {"app=web, tier=back", false},
      {"app!=web", false},
      {"other!=web", true},
      {"app", true},
      {"other", false},
      {"!app", false},
      {"!other", true},
      {"app in (web, api)", true},
      {"app in (api)", false},
      {"app notin (api)", true},
      {"other notin (api)", true},
      {"app in (web,api),tier=front,!other", true},
      {"empty=", true},
  };
  for (const auto& [text, expected] : rows) {
    auto s = LabelSelector::parse(text);
    ASSERT_TRUE(s.ok()) << text;
    EXPECT_EQ(s->matches(&labels), expected) << text;
  }
  EXPECT_FALSE(LabelSelector::parse("app=web")->matches(nullptr));
}

TEST(Selector, NonsenseIsRefused) {
  for (std::string text :
       {"=", "a=b,", ",", "a in web", "a in (web", "a within (web)", "a b", "-a=b", "a=b c", "!"}) {
    EXPECT_FALSE(LabelSelector::parse(text).ok()) << text;
  }
  EXPECT_FALSE(FieldSelector::parse("spec.nodeName=x").ok());
  EXPECT_FALSE(FieldSelector::parse("metadata.name").ok());
}

TEST(Selector, FieldsAreNameAndNamespace) {
  auto s = FieldSelector::parse("metadata.name=a,metadata.namespace!=b");
  ASSERT_TRUE(s.ok());
  EXPECT_TRUE(s->matches("default", "a"));
  EXPECT_FALSE(s->matches("b", "a"));
  EXPECT_FALSE(s->matches("default", "c"));
}

TEST(Names, FollowRfc1123) {
  EXPECT_TRUE(valid_subdomain("a.b-c.9"));
  for (std::string bad : {"", "-a", "a-", "A", "a..b", "a_b", ".a"})
    EXPECT_FALSE(valid_subdomain(bad)) << bad;
  EXPECT_TRUE(valid_label_name(std::string(63, 'a')));
  EXPECT_FALSE(valid_label_name(std::string(64, 'a')));
  EXPECT_FALSE(valid_label_name("a.b"));
  EXPECT_TRUE(valid_label_key("example.com/some_Key"));
  EXPECT_FALSE(valid_label_key("/key"));
}

}  // namespace
}  // namespace davit::cluster_memory
