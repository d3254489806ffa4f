// What a program finds in its environment, and that nobody else sees it (T11).
#include <cstdlib>

#include "covers.hpp"
#include "exec_fixture.hpp"
#include "said.hpp"

namespace davit::actuator_exec {
namespace {

TEST_F(Exec, TheEnvironmentIsWhatTheSettingsName) {
  ::setenv("DAVIT_TEST_GIVEN", "given-value", 1);
  ::setenv("DAVIT_TEST_OTHER", "other-value", 1);
  write("token", "t0ken-value\n");
  run("/usr/bin/env >$T/env; echo '{}'",
      {{"environment_names", {"DAVIT_TEST_GIVEN", "DAVIT_TEST_MISSING"}},
       {"environment.REGION", "eu"},
       {"environment_files.TOKEN", path("token")}});
  EXPECT_EQ(begin().words(), "done");
  std::istringstream lines(content("env"));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("PWD=") && !line.starts_with("_=") && !line.starts_with("OLDPWD=") &&
        !line.starts_with("SHLVL="))  // the shell's own
      found.insert(line);
  EXPECT_EQ(found, (std::set<std::string>{
                       "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       "DAVIT_TEST_GIVEN=given-value", "REGION=eu", "TOKEN=t0ken-value",
                       "T=" + folder_.path()}));
  write("token", "n3w-value");
  EXPECT_EQ(begin().words(), "done");
  EXPECT_NE(content("env").find("TOKEN=n3w-value\n"), std::string::npos) << "without a restart";
}

TEST_F(Exec, NoTextHasAValueOfTheEnvironment) {
  ::setenv("DAVIT_TEST_GIVEN", "g1ven-s3cret", 1);
  write("token", "t0k");
  run("echo \"uses $TOKEN and $DAVIT_TEST_GIVEN\" >&2; cat $T/answer | sed s/SECRET/$TOKEN/g; "
      "exit $(cat $T/status)",
      {{"environment_names", {"DAVIT_TEST_GIVEN"}}, {"environment_files.TOKEN", path("token")}});
  const std::string progress = R"({"progress":"with SECRET","events":[{"type":"Normal",)"
                               R"("reason":"A","message":"with SECRET"}]})";
  const std::string answers[] = {
      R"({"error":{"code":"ABORTED","message":"SECRET is refused","where":"SECRET"}})", progress,
      R"({"SECRET":1})", "{} SECRET", "rubbish SECRET"};
  std::string said;
  for (const char* status : {"0", "4"}) {
    write("status", status);
    for (const auto& answer : answers) {
      write("answer", answer);
      Pending& call = begin();
      const auto outcome = call.outcome();
      if (outcome.error) said += outcome.error->message + "\n" + outcome.error->where + "\n";
      said += outcome.progress + "\n" + outcome.error_reason + "\n";
      for (const auto& event : call.events) said += event.reason + event.message + "\n";
    }
  }
  for (const auto& line : host_->log()) said += line.text() + "\n";
  EXPECT_EQ(said.find("t0k"), std::string::npos) << said;
  EXPECT_EQ(said.find("g1ven"), std::string::npos) << said;
  EXPECT_NE(said.find("[TOKEN] is refused"), std::string::npos) << said;
  EXPECT_NE(said.find("uses [TOKEN] and [DAVIT_TEST_GIVEN]"), std::string::npos) << said;
}

TEST_F(Exec, AFileThatIsMissingIsNamed) {
  auto began = up("echo '{}'", {{"environment_files.TOKEN", path("missing")}});
  ASSERT_FALSE(began.ok());
  EXPECT_TRUE(began.error().message.starts_with("the file of TOKEN: ")) << began.error().message;
  write("token", "x");
  run("echo '{}'", {{"environment_files.TOKEN", path("token")}});
  std::filesystem::remove(path("token"));
  const auto outcome = begin().outcome();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, Code::failed_precondition);
  EXPECT_EQ(outcome.error->where, "environment_files.TOKEN");
  write("token", "x");
  EXPECT_EQ(begin().words(), "done");
}

TEST_F(Exec, SettingsThatCannotBeAreSaid) {
  const auto faults = [&](testing::Config config) {
    const auto began = up_with(std::move(config));
    return began.ok() ? "none" : began.error().message;
  };
  EXPECT_NE(faults({}).find("command"), std::string::npos);
  EXPECT_NE(faults({{"command", std::vector<std::string>{}}}).find("must begin with the program"),
            std::string::npos);
  const std::vector<std::string> sh{"/bin/sh"};
  EXPECT_NE(faults({{"command", sh}, {"environment.A-B", "x"}})
                .find("\"A-B\" is no name of an environment variable"),
            std::string::npos);
  EXPECT_NE(
      faults({{"command", sh}, {"environment_names", {"T"}}}).find("\"T\" is set more than once"),
      std::string::npos);
  EXPECT_NE(faults({{"command", sh}, {"environment_files.TOKEN", ""}}).find("path of a file"),
            std::string::npos);
  EXPECT_NE(faults({{"command", sh}, {"concurrency_max", 0}}).find("concurrency_max"),
            std::string::npos);
  EXPECT_NE(faults({{"command", sh}, {"comand", 0}}).find("comand"), std::string::npos);
}

TEST(Covers, TakeTheLongestFirstAndEachLine) {
  Covers covers;
  covers.add("A", "abcd", 4);
  covers.add("SHORT", "ab", 4);
  covers.add("PEM", "-----BEGIN\nabcd-abcd-abcd\n}\n", 1);
  EXPECT_EQ(covers.over("x abcd ab"), "x [A] ab");
  EXPECT_EQ(covers.over("abcd-abcd-abcd"), "[PEM]");
  EXPECT_EQ(covers.over("-----BEGIN\nabcd-abcd-abcd\n}\n}"), "[PEM]}");
}

TEST(Said, APartOfAValueAtTheEndOfALineThatIsCutIsNotShown) {
  Covers covers;
  covers.add("TOKEN", std::string(100, 's'), 1);
  std::string logged;
  Said said(covers, [&](const std::string& line) { logged += line; });
  // So many values that what is left of a long line is short.
  for (int i = 0; i < 700; ++i) said.add(std::string(100, 's'));
  said.end();
  EXPECT_EQ(logged.find('s'), std::string::npos) << logged;
  EXPECT_EQ(said.last_words().find('s'), std::string::npos);
}

}  // namespace
}  // namespace davit::actuator_exec
