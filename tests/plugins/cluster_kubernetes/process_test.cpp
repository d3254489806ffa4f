// Programs that end, fail, hang and flood.
#include "process.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;

Ran shell(const std::string& script, milliseconds limit = milliseconds(60'000)) {
  const Stopper stopper;
  return run({"/bin/sh", {"-c", script}, {"PATH=/usr/bin:/bin", "GREETING=hello"}, limit}, stopper);
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
  const Ran ran = run({"/nowhere/at-all", {}, {}}, stopper);
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
  const Ran ran = run({"/bin/sleep", {"600"}, {}}, stopper);
  other.join();
  EXPECT_EQ(ran.failure, "it was ended, because this process ends");
}

}  // namespace
}  // namespace davit::cluster_kubernetes
