// What threads do for whom, and what is said when they do it for too long.
#include "runtime/step.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "assembly/stalls.hpp"
#include "services/log.hpp"

namespace davit::host {
namespace {

using Kind = Step::Kind;

std::string seen(const std::optional<Step::Seen>& step) {
  return step ? step->text() : "nothing";
}

TEST(Step, TheInnermostIsSeenAndWhoCalledIt) {
  EXPECT_EQ(seen(Step::here()), "nothing");
  const Step task(Kind::task, party("applier"), "a task");
  EXPECT_EQ(seen(Step::here()), "a task of \"applier\"");
  {
    const Step call(Kind::call, party("widget"), "kind.reconcile");
    EXPECT_EQ(seen(Step::here()), "kind.reconcile of \"widget\", called by \"applier\"");
    const Step own(Kind::call, party("widget"), "kind.validate");
    EXPECT_EQ(seen(Step::here()), "kind.validate of \"widget\", called by \"applier\"");
  }
  EXPECT_EQ(seen(Step::here()), "a task of \"applier\"");
}

TEST(Step, ACallCountsToTheStepAroundIt) {
  const Step task(Kind::task, party("applier"), "a task");
  const uint64_t number = Step::here()->number;
  const Step call(Kind::call, party("widget"), "kind.reconcile");
  EXPECT_EQ(Step::here()->kind, Kind::task);
  EXPECT_EQ(Step::here()->number, number);
  const Step blocking(Kind::blocking_call, party("main"), "storage.read");
  EXPECT_EQ(Step::here()->kind, Kind::blocking_call);
  EXPECT_NE(Step::here()->number, number);
}

TEST(Step, AThreadKnowsWhatItIsIn) {
  EXPECT_FALSE(Step::around());
  const Step alone(Kind::call, party("widget"), "kind.describe");
  EXPECT_EQ(Step::around(), Kind::call);
  const Step job(Kind::job, party("streamer"), "a blocking task");
  EXPECT_EQ(Step::around(), Kind::job);
  const Step call(Kind::call, party("applier"), "change_sink.offer");
  EXPECT_EQ(Step::around(), Kind::job);
  const Step read(Kind::blocking_call, party("main"), "storage.read");
  EXPECT_EQ(Step::around(), Kind::blocking_call);
}

TEST(Step, DeeperThanCanBeSeenIsLeftAgain) {
  const auto dive = [](const auto& self, int levels) -> void {
    if (levels == 0) return;
    const Step step(Kind::call, party("deep"), "kind.reconcile");
    self(self, levels - 1);
  };
  const Step task(Kind::task, party("applier"), "a task");
  dive(dive, 50);
  EXPECT_EQ(seen(Step::here()), "a task of \"applier\"");
}

TEST(Step, IsSeenFromOtherThreadsUntilItEnds) {
  std::promise<void> entered, leave;
  std::thread other([&] {
    const Step step(Kind::job, party("main"), "a blocking task");
    entered.set_value();
    leave.get_future().wait();
  });
  entered.get_future().wait();
  const auto jobs = [](const Step::Seen& s) { return s.kind == Kind::job; };
  EXPECT_EQ(seen(Step::oldest(jobs)), "a blocking task of \"main\"");
  leave.set_value();
  other.join();
  EXPECT_EQ(seen(Step::oldest(jobs)), "nothing");
}

// For ThreadSanitizer, and for the promise that what is read belongs together.
TEST(Step, WhatIsReadMeanwhileIsWhole) {
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) {
      const Step task(Kind::task, party("one"), "one");
      const Step call(Kind::call, party("two"), "two");
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    for (const Step::Seen& s : Step::all()) EXPECT_EQ(s.who->instance, s.what);
  }
  over = true;
  busy.join();
}

TEST(Stalls, AreToldOnceAndWhenTheyEnd) {
  std::string logged;
  Log log([&](std::string_view line) {
    const std::string text(line.substr(line.find(' ') + 1));
    logged += text.substr(0, text.find(" for_ms")) + "|";
  });
  Stalls stalls(log);
  stalls.set(std::chrono::milliseconds(0));
  {
    const Step task(Kind::task, party("applier"), "a task");
    const Step call(Kind::call, party("widget"), "kind.reconcile");
    stalls.look();
    stalls.look();
  }
  {
    const Step job(Kind::job, party("main"), "a blocking task");  // takes as long as it takes
    stalls.look();
  }
  stalls.look();
  EXPECT_EQ(logged,
            "warn  widget    does not return doing=kind.reconcile called_by=applier holds=\"a "
            "worker and its strand\"|"
            "info  widget    has returned after all doing=kind.reconcile\n|");
}

}  // namespace
}  // namespace davit::host
