#include "tool/verdict.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace davit::conformance {
namespace {

Verdict of(const std::string& told, int status, Ended::Why why = Ended::Why::itself) {
  return verdict_of({why, status, "", told, std::chrono::milliseconds(1)}, std::chrono::seconds(9));
}
constexpr int exit_code(int code) {
  return code << 8;
}

TEST(Verdict, IsWhatTheTestTellsWhenItsProcessAgrees) {
  EXPECT_EQ(of("P", 0).is, Verdict::Is::passed);
  EXPECT_EQ(of("S", 0).is, Verdict::Is::skipped);
  EXPECT_EQ(of("fF", exit_code(1)).is, Verdict::Is::failed);
  EXPECT_EQ(of("fF", exit_code(1)).why, "") << "the test's output says why";
}

TEST(Verdict, FailsATestThatHasNone) {
  EXPECT_EQ(of("", 0).why,
            "its process ended with exit code 0 before the test had a verdict: the plugin has "
            "ended it");
  EXPECT_EQ(of("", exit_code(7)).why,
            "its process ended with exit code 7 before the test had a verdict");
  EXPECT_EQ(of("f", SIGSEGV).why,
            "its process was ended by signal 11 (Segmentation fault) before the test had a "
            "verdict");
  EXPECT_EQ(of("f", exit_code(1)).why, "") << "a suite gives up after a failure that it has shown";
  for (const int status : {0, exit_code(7), SIGSEGV})
    EXPECT_EQ(of("", status).is, Verdict::Is::failed);
}

TEST(Verdict, FailsATestWhoseProcessEndsBadly) {
  for (const char* told : {"P", "S", "fF"}) {
    const auto verdict = of(told, exit_code(23));
    EXPECT_EQ(verdict.is, Verdict::Is::failed);
    EXPECT_NE(verdict.why.find("and then its process ended with exit code 23"), std::string::npos);
  }
  EXPECT_EQ(of("P", SIGABRT).is, Verdict::Is::failed);
  EXPECT_EQ(of("fF", 0).is, Verdict::Is::failed);
}

TEST(Verdict, FailsWhatTookTooLong) {
  const auto verdict = of("P", SIGKILL, Ended::Why::timeout);
  EXPECT_EQ(verdict.is, Verdict::Is::failed);
  EXPECT_NE(verdict.why.find("within 9 s"), std::string::npos);
}

}  // namespace
}  // namespace davit::conformance
