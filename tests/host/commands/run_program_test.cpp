#include "commands/run_program.hpp"

#include <gtest/gtest.h>

#include "commands/kubectl.hpp"

namespace davit::host {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds long_enough{60'000};

TEST(RunProgram, GivesItsInputAndReadsWhatItWrites) {
  const std::string much(3 << 20, 'x');  // more than any pipe holds
  const auto ran = run_program({"sh", "-c", "cat | wc -c; cat /proc/self/fd/4; echo e >&2; exit 3"},
                               much, "four", long_enough);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran->status, 3);
  EXPECT_EQ(ran->output, std::to_string(much.size()) + "\nfour");
  EXPECT_EQ(ran->errors, "e\n");
}

TEST(RunProgram, SaysHowItDidNotEndByItself) {
  EXPECT_EQ(run_program({"/not/there"}, "", "", long_enough).error().code,
            Code::failed_precondition);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, "", "", long_enough)->status, 128 + 9);
  EXPECT_EQ(run_program({"sleep", "60"}, "", "", milliseconds(1)).error().code,
            Code::deadline_exceeded);
}

TEST(Kubectl, AsksNoOtherClusterThanTheOneThatIsMeant) {
  const auto deadline = std::chrono::steady_clock::now() + long_enough;
  const std::string good =
      "clusters: [{name: a}]\ncurrent-context: a\nusers: [{user: {token: t}}]\n";
  EXPECT_TRUE(Kubectl::open("true", good, deadline).ok());
  EXPECT_TRUE(
      Kubectl::open("true", R"({"clusters":[{"name":"a"}],"current-context":"a"})", deadline).ok());
  EXPECT_EQ(Kubectl::open("true", "s3cret", deadline).error().message.find("s3cret"),
            std::string::npos);
  for (const std::string& bad :
       {std::string(""), std::string("relative"), std::string("/not/there"), std::string("{}\n"),
        std::string("clusters: []\ncurrent-context: a\n"), std::string("clusters: [{name: a}]\n"),
        std::string("a: [\n"), good + "more: [{exec: {command: sh}}]\n",
        good + "more: {tokenFile: /etc/shadow}\n", good + "---\nb: c\n"}) {
    const auto opened = Kubectl::open("true", bad, deadline);
    ASSERT_FALSE(opened.ok()) << bad;
    EXPECT_EQ(opened.error().code, Code::failed_precondition);
  }
}

}  // namespace
}  // namespace davit::host
