// Programs that end, fail, hang and flood.
#include "process/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <thread>

#include "davit/testing/temporary.hpp"
#include "process/one_line.hpp"

namespace davit::process {
namespace {

using std::chrono::milliseconds;

Command command(const std::string& script, milliseconds limit = milliseconds(60'000)) {
  Command out;
  out.program = "/bin/sh";
  out.args = {"-c", script};
  out.environment = {"PATH=/usr/bin:/bin", "GREETING=hello"};
  out.time_limit = limit;
  return out;
}

Ran shell(const std::string& script, milliseconds limit = milliseconds(60'000)) {
  const Stopper stopper;
  return run(command(script, limit), stopper);
}

TEST(Process, ItsOutputIsTakenAndItsEnvironmentIsWhatItIsGiven) {
  const Ran ran = shell("echo $GREETING; echo careful >&2");
  EXPECT_EQ(ran.failure, "");
  EXPECT_EQ(ran.output.view(), "hello\n");
  EXPECT_EQ(ran.errors, "careful\n");
}

TEST(Process, ItHasNoTerminalAndNothingToRead) {
  const Ran ran = shell("read line && echo read; (echo x >/dev/tty) 2>/dev/null && echo terminal");
  EXPECT_EQ(ran.output.view(), "");
  EXPECT_EQ(ran.failure.substr(0, 22), "it ended with exit cod");
}

TEST(Process, ItInheritsNoOpenFile) {
  const Ran ran = shell("ls /proc/self/fd | sort -n | tail -1");
  EXPECT_EQ(ran.output.view(), "3\n") << "that of ls itself";
}

TEST(Process, ItsEndIsSaid) {
  EXPECT_EQ(shell("exit 3").failure, "it ended with exit code 3");
  EXPECT_EQ(shell("kill -9 $$").failure, "signal 9 ended it");
  const Stopper stopper;
  Command nowhere;
  nowhere.program = "/nowhere/at-all";
  const Ran ran = run(nowhere, stopper);
  EXPECT_FALSE(ran.found);
  EXPECT_EQ(ran.failure, "it could not be started: No such file or directory");
}

TEST(Process, ALimitKillsItWithAllThatItHasStarted) {
  EXPECT_EQ(shell("sleep 600 & sleep 600", milliseconds(50)).failure, "it took longer than 50 ms");
  EXPECT_EQ(shell("while :; do echo rubbish; done").failure, "it wrote more than 65536 bytes");
  EXPECT_EQ(shell("while :; do echo rubbish >&2; done", milliseconds(200)).failure,
            "it took longer than 200 ms");
}

TEST(Process, WhoHoldsItsPipesHoldsNobodyUp) {
  const Ran ran = shell("sleep 3 & echo done");
  EXPECT_EQ(ran.failure, "");
  EXPECT_EQ(ran.output.view(), "done\n");
}

TEST(Process, ItIsEndedFromAnotherThread) {
  Stopper stopper;
  std::thread other([&] { stopper.stop(); });
  const Ran ran = run(command("exec sleep 600"), stopper);
  other.join();
  EXPECT_EQ(ran.failure, "it was ended, because this process ends");
}

TEST(Process, WhatItReadsIsThereAndNobodyWaitsForItsReading) {
  const Stopper stopper;
  Command reads = command("cat | tail -c 4; cat /dev/stdin | wc -c");
  reads.input = std::string(4 << 20, 'x') + "end\n";
  EXPECT_EQ(run(reads, stopper).output.view(), "end\n" + std::to_string(reads.input.size()) + "\n");
  Command does_not = command("exec <&-; echo done");
  does_not.input = reads.input;
  EXPECT_EQ(run(does_not, stopper).output.view(), "done\n");
}

TEST(Process, ItWorksInTheFolderThatItIsGiven) {
  const testing::TemporaryDirectory folder;
  const Stopper stopper;
  Command there = command("pwd");
  there.directory = folder.path();
  EXPECT_EQ(run(there, stopper).output.view(), folder.path() + "\n");
  there.directory = folder.path() + "/gone";
  EXPECT_EQ(run(there, stopper).failure,
            "its working directory cannot be entered: No such file or directory");
}

TEST(Process, ALockThatItIsGivenIsHeldByWhatItHasStarted) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder.path() + "/lock";
  const auto free = [&] {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool got = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    ::close(fd);
    return got;
  };
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  const Stopper stopper;
  Command leaves = command("ls /proc/self/fd | sort -n | tail -2 | head -1; sleep 600 & echo $!");
  leaves.kept_file = fd;
  const Ran ran = run(leaves, stopper);
  ::close(fd);
  ASSERT_TRUE(ran.output.view().starts_with("3\n")) << ran.output.view();
  EXPECT_FALSE(free());
  ::kill(std::stoi(std::string(ran.output.view().substr(2))), SIGKILL);
  for (int i = 0; i < 1000 && !free(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(free());
}

TEST(Process, WhatIsLeftOfItsGroupIsEndedIfSoWished) {
  const Stopper stopper;
  Command leaves = command("sleep 600 >/dev/null 2>&1 & echo $!");
  leaves.end_whole_group = true;
  const Ran ran = run(leaves, stopper);
  EXPECT_EQ(ran.failure, "");
  const int left = std::stoi(std::string(ran.output.view()));
  for (int i = 0; i < 1000 && ::kill(left, 0) == 0; ++i) {
    // Whoever adopts it may not reap it; then it is a zombie.
    const Ran state = shell("grep -c '^State:.Z' /proc/" + std::to_string(left) + "/status");
    if (state.output.view() == "1\n") break;
    ASSERT_LT(i, 999);
    std::this_thread::sleep_for(milliseconds(10));
  }
}

TEST(Process, ItMayCleanUpWhenALimitIsPassed) {
  const Stopper stopper;
  Command tidy =
      command("trap 'echo tidied >&2; exit 0' TERM; sleep 600 & wait", milliseconds(2'000));
  tidy.grace = milliseconds(60'000);
  End told = End::by_itself;
  tidy.on_limit = [&](End end, const std::string&) { told = end; };
  std::string said;
  tidy.on_errors = [&](std::string_view piece) { said += piece; };
  const Ran ran = run(tidy, stopper);
  EXPECT_EQ(ran.end, End::time_limit);
  EXPECT_EQ(told, End::time_limit);
  EXPECT_EQ(ran.failure, "it took longer than 2000 ms");
  EXPECT_NE(said.find("tidied\n"), std::string::npos) << said;
}

TEST(Process, WhoDoesNotListenToSigtermIsKilled) {
  const Stopper stopper;
  Command deaf = command("trap '' TERM; while :; do echo rubbish; done");
  deaf.grace = milliseconds(50);
  const Ran ran = run(deaf, stopper);
  EXPECT_EQ(ran.end, End::output_limit);
  EXPECT_EQ(WTERMSIG(ran.status), SIGKILL);
}

TEST(Process, TheGraceIsCutOff) {
  Stopper stopper, no_grace;
  stopper.stop();
  no_grace.stop();
  Command deaf = command("trap '' TERM; while :; do sleep 1; done");
  deaf.grace = std::chrono::hours(1);
  deaf.no_grace = &no_grace;
  EXPECT_EQ(run(deaf, stopper).end, End::stopped);
}

TEST(Process, ItDiesWithTheThreadThatRunsIt) {
  // A process of its own, which is killed while its program runs.
  const testing::TemporaryDirectory folder;
  const std::string pid_file = folder.path() + "/pid";
  const pid_t host = ::fork();
  if (host == 0) {
    const Stopper stopper;
    run(command("echo $$ >" + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                "; while :; do sleep 1; done"),
        stopper);
    ::_exit(0);
  }
  std::string program;
  for (int i = 0; i < 2000 && program.empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    const Ran ran = shell("cat " + pid_file);
    program = ran.output.view();
  }
  ASSERT_FALSE(program.empty());
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  const std::string gone = "! test -d /proc/" + std::to_string(std::stoi(program)) +
                           " || grep -q '^State:.Z' /proc/" + std::to_string(std::stoi(program)) +
                           "/status";
  int i = 0;
  while (i < 1000 && shell(gone).status != 0) {
    std::this_thread::sleep_for(milliseconds(10));
    ++i;
  }
  EXPECT_LT(i, 1000);
}

TEST(Process, OnlyWhatMayBeRunIsFound) {
  const testing::TemporaryDirectory folder;
  EXPECT_EQ(find_program("sh", "/nowhere::/bin"), "/bin/sh");
  EXPECT_EQ(find_program("./x", "/bin"), "./x");
  EXPECT_EQ(find_program("no-such-program", "/bin:/usr/bin"), "");
  shell("echo echo >" + folder.path() + "/program");
  EXPECT_EQ(find_program("program", folder.path() + ":/bin"), folder.path() + "/program");
  const Stopper stopper;
  Command denied;
  denied.program = folder.path() + "/program";
  EXPECT_EQ(run(denied, stopper).failure, "it could not be started: Permission denied");
  shell("chmod +x " + denied.program);
  EXPECT_EQ(run(denied, stopper).failure, "it could not be started: Exec format error");
}

TEST(OneLine, IsHarmless) {
  EXPECT_EQ(one_line("a\n\tb\x1b[31mred\x1b[0m \xc2\x9bx\xff\n"), "a bred  x?");
  EXPECT_EQ(one_line(std::string(600, 'x')).size(), 503U);
  EXPECT_EQ(one_line("abcdef", 3), "...def");
}

}  // namespace
}  // namespace davit::process
