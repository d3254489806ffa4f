#include "tool/arguments.hpp"

#include <gtest/gtest.h>

namespace davit::conformance {
namespace {

std::string fault(const std::vector<std::string>& words) {
  const auto r = parse_arguments(words);
  return r.ok() ? "" : r.error().message;
}

TEST(Arguments, AreTakenWithAndWithoutAnEqualsSign) {
  const auto r = parse_arguments({"--config", "a.conf", "--timeout=7", "--jobs", "3", "--seed",
                                  "18446744073709551615", "--repeat=2", "--in-process", "x.so"});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->config, "a.conf");
  EXPECT_EQ(r->timeout.count(), 7);
  EXPECT_EQ(r->jobs, 3u);
  EXPECT_EQ(r->seed, UINT64_MAX);
  EXPECT_EQ(r->repeat, 2u);
  EXPECT_TRUE(r->in_process);
  EXPECT_EQ(r->plugin, "x.so");
}

TEST(Arguments, HaveDefaults) {
  const auto r = parse_arguments({"x.so"});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->timeout.count(), 120);
  EXPECT_EQ(r->jobs, 1u);
  EXPECT_EQ(r->filter, "*");
  EXPECT_FALSE(r->seed || r->list || r->in_process || r->help);
}

TEST(Arguments, OfGoogleTestAreTakenWhereTheToolHasTheSame) {
  const auto r = parse_arguments({"--gtest_filter=A.*", "--gtest_list_tests", "x.so"});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->filter, "A.*");
  EXPECT_TRUE(r->list);
  EXPECT_EQ(fault({"--gtest_shuffle", "x.so"}), "--gtest_shuffle works only with --in-process");
  EXPECT_EQ(fault({"--in-process", "--gtest_shuffle", "x.so"}), "");
}

TEST(Arguments, ThatAreWrongAreNamed) {
  EXPECT_EQ(fault({}), "no plugin is named");
  EXPECT_EQ(fault({"a.so", "b.so"}), "two plugins are named: a.so and b.so");
  EXPECT_EQ(fault({"x.so", "--seed"}), "--seed needs a value: --seed N");
  EXPECT_EQ(fault({"x.so", "--list=no"}), "--list takes no value");
  EXPECT_EQ(fault({"--jobs", "0", "x.so"}), "--jobs needs a number from 1 to 256, not \"0\"");
  EXPECT_EQ(fault({"--timeout=5s", "x.so"}),
            "--timeout needs a number from 0 to 86400, not \"5s\"");
}

TEST(Arguments, ThatAreMistypedGetASuggestion) {
  EXPECT_EQ(fault({"--jbos", "3", "x.so"}), "unknown flag --jbos; --jobs?");
  EXPECT_EQ(fault({"--time", "3", "x.so"}), "unknown flag --time; --timeout?");
  EXPECT_EQ(fault({"--zzzzzzzz", "x.so"}), "unknown flag --zzzzzzzz; --help lists the flags");
}

TEST(Arguments, OfAChildEndWithThePlugin) {
  const auto r = parse_arguments({"--seed", "4", "--child", "writer", "/tmp/x", "1", "x.so"});
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->child, "writer");
  EXPECT_EQ(r->child_arguments, (std::vector<std::string>{"/tmp/x", "1"}));
  EXPECT_EQ(r->plugin, "x.so");
}

TEST(Arguments, HelpNamesEveryFlag) {
  for (const char* flag : {"--config", "--filter", "--list", "--timeout", "--jobs", "--seed",
                           "--repeat", "--in-process", "--help"})
    EXPECT_NE(help_text().find(std::string("\n  ") + flag), std::string::npos) << flag;
}

TEST(Filter, SelectsAsGoogleTestDoes) {
  EXPECT_TRUE(selects("*", "A.B"));
  EXPECT_TRUE(selects("A.*:C.*", "C.D"));
  EXPECT_TRUE(selects("A.?", "A.B"));
  EXPECT_TRUE(selects("*.S1_*end", "X.S1_to_the_end"));
  EXPECT_FALSE(selects("A.?", "A.BC"));
  EXPECT_FALSE(selects("A.*-A.B", "A.B"));
  EXPECT_TRUE(selects("-A.B", "A.C"));
  EXPECT_FALSE(selects("A", "A.B"));
}

}  // namespace
}  // namespace davit::conformance
