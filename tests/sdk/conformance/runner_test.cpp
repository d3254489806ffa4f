// Real children: what they print, how they end, and that none of them stays.
#include "tool/runner.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace davit::conformance {
namespace {

void tell(int to, char what) {
  ASSERT_EQ(write(to, &what, 1), 1);
}

int scripted(const std::string& test, int to) {
  if (test == "A.Passes") tell(to, told_passed);
  if (test == "A.Skips") tell(to, told_skipped);
  if (test == "B.Fails") std::printf("wrong\n"), tell(to, told_failure), tell(to, told_failed);
  if (test == "B.Dies") std::raise(SIGKILL);
  if (test == "B.Hangs") pause();
  return test == "B.Fails" ? 1 : 0;
}

Plan plan(std::vector<std::string> tests, unsigned jobs = 1) {
  return {std::move(tests), jobs, std::chrono::seconds(20), &scripted};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Runner, PrintsWhatGoogleTestPrints) {
  std::ostringstream out;
  EXPECT_EQ(run_tests(plan({"A.Passes", "A.Skips", "B.Fails", "B.Dies"}), out), 1);
  EXPECT_TRUE(contains(out.str(), "[==========] Running 4 tests from 2 test suites.\n"));
  EXPECT_TRUE(contains(out.str(), "[       OK ] A.Passes ("));
  EXPECT_TRUE(contains(out.str(), "[  SKIPPED ] A.Skips ("));
  EXPECT_TRUE(contains(out.str(), "[ RUN      ] B.Fails\nwrong\n[  FAILED  ] B.Fails ("));
  EXPECT_TRUE(contains(out.str(), "was ended by signal 9 (Killed)"));
  EXPECT_TRUE(contains(out.str(), "[  PASSED  ] 1 test.\n"));
  EXPECT_TRUE(contains(out.str(), "\n 2 FAILED TESTS\n"));
}

TEST(Runner, IsContentWhenNothingFails) {
  std::ostringstream out;
  EXPECT_EQ(run_tests(plan({"A.Passes", "A.Skips"}, 2), out), 0);
  EXPECT_FALSE(contains(out.str(), "FAILED"));
}

TEST(Runner, EndsWhatHangsAndGoesOn) {
  Plan short_plan = plan({"B.Hangs", "A.Passes"});
  short_plan.limit = std::chrono::seconds(5);
  std::ostringstream out;
  EXPECT_EQ(run_tests(short_plan, out), 1);
  EXPECT_TRUE(contains(out.str(), "did not end within 5 s"));
  EXPECT_TRUE(contains(out.str(), "[       OK ] A.Passes"));
}

TEST(Runner, GivesEachChildAFolderThatIsRemoved) {
  std::ostringstream out;
  Plan one = plan({"A.Tells"});
  one.run = [](const std::string&, int to) {
    std::printf("%s\n", std::getenv("TMPDIR"));
    std::fflush(stdout);
    std::ofstream(std::string(std::getenv("TMPDIR")) + "/left") << "behind";
    tell(to, told_passed);
    std::raise(SIGKILL);
    return 0;
  };
  EXPECT_EQ(run_tests(one, out), 1);
  const size_t at = out.str().find("A.Tells\n") + 8;
  const std::string folder = out.str().substr(at, out.str().find('\n', at) - at);
  EXPECT_TRUE(contains(folder, "davit-test-")) << out.str();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// Ctrl-C: the tool ends with all that its children have started. It runs in a process of its own
// here, as the signal stays noted.
TEST(Runner, EndsItsChildrenWhenItIsInterrupted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t tool = fork();
  if (tool == 0) {
    Plan hanging = plan({"B.Hangs", "A.Passes"});
    hanging.run = [&](const std::string&, int) {
      (void)fork();  // what a test starts holds the pipe's end, too
      const char here = 'h';
      if (write(ends[1], &here, 1) == 1) pause();
      return 0;
    };
    std::ostringstream out;
    const int code = run_tests(hanging, out);
    _exit(contains(out.str(), "the run was interrupted") ? code : 99);
  }
  close(ends[1]);
  char buffer[2];
  ASSERT_EQ(read(ends[0], buffer, 1), 1);
  ASSERT_EQ(read(ends[0], buffer, 1), 1);
  kill(tool, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(tool, &status, 0), tool);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(read(ends[0], buffer, 1), 0) << "a process still has the pipe";
}

}  // namespace
}  // namespace davit::conformance
