// Many calls: their order, their limits and callers, the stop, and programs that outlive a call.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include "exec_fixture.hpp"
#include "uid_lock.hpp"

namespace davit::actuator_exec {
namespace {

// Runs until the file $T/go is there. $T/began-UID says that it has begun.
constexpr const char* waits =
    "uid=$(sed 's/.*\"uid\":\"\\([^\"]*\\)\".*/\\1/'); echo $$ >$T/new-$uid; "
    "mv $T/new-$uid $T/began-$uid; until [ -e $T/go ]; do sleep 0.02; done; echo '{}'";
// Does not end on SIGTERM.
constexpr const char* deaf =
    "trap '' TERM; echo $$ >$T/new; mv $T/new $T/pid; "
    "until [ -e $T/go ]; do sleep 0.02; done; echo '{}'";

TEST_F(Exec, SoManyRunAtOnceAndTheOthersWaitInOrder) {
  run("echo begin >>$T/log; sleep 0.05; n=$(ls $T/at 2>/dev/null | wc -l); "
      "uid=$(sed 's/.*\"uid\":\"\\([^\"]*\\)\".*/\\1/'); mkdir -p $T/at; : >$T/at/$uid; "
      "ls $T/at | wc -l >>$T/counts; echo $uid >>$T/order; sleep 0.02; rm $T/at/$uid; echo '{}'",
      {{"concurrency_max", 1}});
  std::string order;
  for (int i = 0; i < 8; ++i) {
    begin("u-" + std::to_string(i));
    order += "u-" + std::to_string(i) + "\n";
  }
  for (auto& call : calls_) EXPECT_EQ(call.words(), "done");
  EXPECT_EQ(content("order"), order);
  EXPECT_EQ(content("counts"), "1\n1\n1\n1\n1\n1\n1\n1\n");
}

TEST_F(Exec, CallsForSeveralClustersOverlap) {
  run(waits, {{"concurrency_max", 3}});
  for (int i = 0; i < 5; ++i) begin("u-" + std::to_string(i));
  for (const char* began : {"began-u-0", "began-u-1", "began-u-2"}) wait_for(began);
  EXPECT_FALSE(calls_[4].answered(200ms));
  EXPECT_FALSE(std::filesystem::exists(path("began-u-3"))) << "more than concurrency_max";
  write("go", "");
  for (auto& call : calls_) EXPECT_EQ(call.words(), "done");
}

TEST_F(Exec, AFullQueueRefuses) {
  run(waits, {{"concurrency_max", 1}, {"waiting_max", 2}});
  begin("u-0");
  wait_for("began-u-0");
  begin("u-1");
  begin("u-2");
  EXPECT_EQ(begin("u-3").code(), Code::resource_exhausted);
  write("go", "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(calls_[i].words(), "done");
}

TEST_F(Exec, WhoWaitsMayGiveUp) {
  run(waits, {{"concurrency_max", 1}});
  begin("u-0");
  wait_for("began-u-0");
  Pending& cancelled = begin("u-1");
  Pending& late = begin("u-2", false, 100ms);
  Pending& stays = begin("u-3");
  cancelled.operation.cancel();
  EXPECT_EQ(cancelled.code(), Code::cancelled);
  EXPECT_EQ(late.code(), Code::deadline_exceeded);
  Pending& too_late = begin("u-4", false, -1ms);
  EXPECT_EQ(too_late.code(), Code::deadline_exceeded);
  EXPECT_FALSE(calls_[0].answered(0ms));
  write("go", "");
  EXPECT_EQ(calls_[0].words(), "done");
  EXPECT_EQ(stays.words(), "done");
  EXPECT_FALSE(std::filesystem::exists(path("began-u-1")));
  EXPECT_FALSE(std::filesystem::exists(path("began-u-2")));
}

TEST_F(Exec, ACallThatIsCancelledBeforeItComesRunsNothing) {
  run("touch $T/ran; echo '{}'");
  const Operation operation;
  operation.cancel();
  Pending call(operation);
  client_.reconcile(
      {"default", "shop", "u-1", any_cluster, {}},
      [&](const actuator::Outcome& o) { call.answer(o); }, operation.op());
  EXPECT_EQ(call.code(), Code::cancelled);
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(Exec, ACancelIsAnsweredAtOnceAndTheNextCallDoesNotRunBesideTheProgram) {
  run(deaf, {{"kill_grace_ms", 600'000}});
  Pending& call = begin();
  wait_for("pid");
  call.operation.cancel();
  EXPECT_EQ(call.code(), Code::cancelled) << "long before the grace has ended";
  const auto next = begin().outcome();
  ASSERT_TRUE(next.error);
  EXPECT_EQ(next.error->code, Code::unavailable);
  EXPECT_EQ(next.error->message,
            "the program of an earlier call for this cluster still runs "
            "(process " +
                std::to_string(std::stoi(content("pid"))) + ", or what it has started)");
  EXPECT_GT(next.error->retry_after.count(), 0);
  EXPECT_FALSE(has_ended(content("pid")));
  write("go", "");
  EXPECT_EQ(words_later(), "done");
}

TEST_F(Exec, ADeadlineIsKept) {
  run(deaf, {{"kill_grace_ms", 600'000}});
  EXPECT_EQ(begin("u-1", false, 300ms).code(), Code::deadline_exceeded);
  write("go", "");
  EXPECT_EQ(words_later(), "done");
}

TEST_F(Exec, AProgramHearsOfTheCancel) {
  run("trap 'echo tidied >$T/tidied; exit 1' TERM; touch $T/began; "
      "while :; do sleep 0.02; done");
  Pending& call = begin();
  wait_for("began");
  call.operation.cancel();
  EXPECT_EQ(call.code(), Code::cancelled);
  wait_for("tidied");
}

TEST_F(Exec, ASecondCallForOneClusterIsNotRunBesideTheFirst) {
  run(waits);
  begin("u-0");
  wait_for("began-u-0");
  EXPECT_EQ(begin("u-0", true).code(), Code::unavailable);
  write("go", "");
  EXPECT_EQ(calls_[0].words(), "done");
  EXPECT_EQ(words_later("u-0"), "done");
}

TEST_F(Exec, AStopAnswersAllAndEndsThePrograms) {
  run(waits, {{"concurrency_max", 2}});
  for (int i = 0; i < 4; ++i) begin("u-" + std::to_string(i));
  wait_for("began-u-0");
  wait_for("began-u-1");
  const auto stopped = instance_->stop();
  EXPECT_TRUE(stopped.ok()) << stopped.error().message;
  for (auto& call : calls_) {
    EXPECT_TRUE(call.answered(0ms)) << "before stop returns";
    EXPECT_EQ(call.code(), Code::unavailable);
  }
  EXPECT_TRUE(has_ended(content("began-u-0")));
  EXPECT_TRUE(has_ended(content("began-u-1")));
  EXPECT_EQ(begin("u-9").code(), Code::unavailable) << "after the stop";
}

TEST_F(Exec, AStopDoesNotWaitForAProgramThatDoesNotListen) {
  run(deaf, {{"kill_grace_ms", 600'000}});
  Pending& call = begin();
  wait_for("pid");
  const auto stopped = instance_->stop(6s);
  EXPECT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_EQ(call.code(), Code::unavailable);
  EXPECT_TRUE(has_ended(content("pid")));
}

TEST_F(Exec, WhatLeftTheProgramsSessionKeepsTheClusterLocked) {
  // A session of its own is not ended with the program: only the lock knows of it.
  run("if [ ! -e $T/pid ]; then setsid sh -c 'echo $$ >$T/new; mv $T/new $T/pid; exec sleep 600' "
      "& until [ -e $T/pid ]; do sleep 0.02; done; fi; echo '{}'");
  EXPECT_EQ(begin().words(), "done");
  EXPECT_EQ(begin().code(), Code::unavailable);
  EXPECT_EQ(begin("u-2").words(), "done") << "another cluster";
  ::kill(std::stoi(content("pid")), SIGKILL);
  EXPECT_EQ(words_later(), "done");
  EXPECT_TRUE(std::filesystem::is_empty(host_->state_directory() + "/locks"))
      << "no file is left for a cluster that nothing works on";
}

TEST(Lock, IsOneForEachUidAndLeavesNoFile) {
  const testing::TemporaryDirectory folder;
  const std::string uids[] = {"u-1", "u-2", "../u", "_", std::string(300, 'x')};
  {
    std::deque<UidLock> held;
    for (const auto& uid : uids) {
      auto lock = UidLock::take(folder.path(), uid);
      ASSERT_TRUE(lock.ok()) << lock.error().message;
      held.push_back(std::move(*lock));
      EXPECT_EQ(UidLock::take(folder.path(), uid).error().code, Code::unavailable);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Lock, IsNeverHeldByTwo) {
  const testing::TemporaryDirectory folder;
  std::atomic<int> inside{0}, most{0}, taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (taken < 400) {
        auto lock = UidLock::take(folder.path(), "u");
        if (!lock.ok()) continue;
        const int now = ++inside;
        if (now > most) most = now;
        ++taken;
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace davit::actuator_exec
