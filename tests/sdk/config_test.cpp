// The `key = value` files of davit-conformance.
#include "davit/testing/config.hpp"

#include <gtest/gtest.h>

namespace davit::testing {
namespace {

TEST(Config, ReadsEveryTypeOfValue) {
  auto c = Config::parse(
      "# settings\npath = \"$TMP/x.db\" # here\nworkers = 4\non = true\n\nnames = [\"a\", "
      "\"b\"]\n");
  ASSERT_TRUE(c.ok());
  ASSERT_EQ(c->entries().size(), 4u);
  EXPECT_EQ(c->string("path"), "$TMP/x.db");
  EXPECT_EQ(c->with("$TMP", "/t").string("path"), "/t/x.db");
  EXPECT_EQ(std::get<int64_t>(c->entries()[1].value), 4);
  EXPECT_TRUE(c->boolean("on"));
  EXPECT_EQ(std::get<std::vector<std::string>>(c->entries()[3].value),
            (std::vector<std::string>{"a", "b"}));
}

TEST(Config, NamesTheLineItCannotRead) {
  for (const char* text : {"a = 1\nb = nonsense\n", "a = 1\nb\n", "a = 1\nb = \"open\n",
                           "a = 1\nb = [\"x\"\n", "a = 1\nb = \"x\" y\n", "a = 1\nb = 1x\n"}) {
    auto c = Config::parse(text);
    ASSERT_FALSE(c.ok()) << text;
    EXPECT_EQ(c.error().message, "line 2: not a `key = value`") << text;
  }
}

TEST(Config, ReplacesAKeyThatIsSetAgain) {
  Config c{{"a", 1}, {"b", "x"}};
  c.set({"a", "now a string"});
  EXPECT_EQ(c.entries().size(), 2u);
  EXPECT_EQ(c.string("a"), "now a string");
}

}  // namespace
}  // namespace davit::testing
