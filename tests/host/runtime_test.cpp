#include "runtime/runtime.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/pool.hpp"
#include "runtime/signals.hpp"

namespace davit::host {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto forever = Clock::time_point::max();

// Counts up to a number and lets a test wait for it. It is declared before the runtime whose
// workers use it, so that they have ended when it goes.
class Gate {
 public:
  void arrive() {
    std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool wait(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

struct StrandOwner {
  explicit StrandOwner(Runtime& r) : strand(r.strand()) {}
  ~StrandOwner() { Runtime::release(strand); }
  davit_strand* strand;
};

TEST(Strand, RunsEveryTaskOnceInOrderAndNeverTwoAtATime) {
  constexpr int posts = 2000, threads = 4;
  Runtime runtime(4);
  StrandOwner owner(runtime);
  struct Seen {
    std::atomic<int> inside{0};
    int overlaps = 0;
    std::vector<int> last = std::vector<int>(threads, -1);
    int out_of_order = 0, total = 0;
  } seen;
  struct Task {
    Seen* seen;
    int thread, number;
  };
  std::vector<std::vector<Task>> tasks(threads);
  std::vector<std::thread> posters;
  for (int t = 0; t < threads; ++t) {
    for (int n = 0; n < posts; ++n) tasks[t].push_back({&seen, t, n});
    posters.emplace_back([&, t] {
      for (Task& task : tasks[t]) {
        Runtime::post(
            owner.strand,
            [](void* arg) {
              auto& [s, thread, number] = *static_cast<Task*>(arg);
              if (s->inside.fetch_add(1) != 0) ++s->overlaps;
              if (s->last[thread] != number - 1) ++s->out_of_order;
              s->last[thread] = number;
              ++s->total;
              s->inside.fetch_sub(1);
            },
            &task);
      }
    });
  }
  for (auto& p : posters) p.join();
  EXPECT_TRUE(runtime.shutdown(forever));
  EXPECT_EQ(seen.total, posts * threads);
  EXPECT_EQ(seen.overlaps, 0);
  EXPECT_EQ(seen.out_of_order, 0);
}

TEST(Strand, LivesWhileItsTasksDo) {
  Gate gate;
  Runtime runtime(2);
  {
    StrandOwner owner(runtime);
    for (int i = 0; i < 100; ++i) {
      Runtime::post(
          owner.strand, [](void* g) { static_cast<Gate*>(g)->arrive(); }, &gate);
    }
  }
  EXPECT_TRUE(gate.wait(100));
}

struct Ended {
  Gate gate;
  std::atomic<int> fired{0}, unfired{0};
  static void on(void* self, int32_t fired) {
    auto& e = *static_cast<Ended*>(self);
    ++(fired != 0 ? e.fired : e.unfired);
    e.gate.arrive();
  }
};

TEST(StrandTimer, FiresNotBeforeItsTime) {
  Ended ended;
  Runtime runtime(2);
  StrandOwner owner(runtime);
  const auto before = Clock::now();
  Runtime::timer(owner.strand, 30'000'000, &Ended::on, &ended);
  ASSERT_TRUE(ended.gate.wait(1));
  EXPECT_GE(Clock::now() - before, 30ms);
  EXPECT_EQ(ended.fired, 1);
}

TEST(StrandTimer, ShorterOnesFireFirst) {
  Runtime runtime(2);
  StrandOwner owner(runtime);
  struct Order {
    Gate gate;
    std::string text;
  } order;
  Runtime::timer(
      owner.strand, 3'600'000'000'000,
      [](void* o, int32_t) {
        static_cast<Order*>(o)->text += "b";
        static_cast<Order*>(o)->gate.arrive();
      },
      &order);
  Runtime::timer(
      owner.strand, 1'000'000,
      [](void* o, int32_t) {
        static_cast<Order*>(o)->text += "a";
        static_cast<Order*>(o)->gate.arrive();
      },
      &order);
  ASSERT_TRUE(order.gate.wait(1));
  EXPECT_TRUE(runtime.shutdown(forever));
  EXPECT_EQ(order.text, "ab") << "the shutdown ends the longer one";
}

TEST(StrandTimer, CancelledEndsOnceUnfired) {
  Ended ended;
  Runtime runtime(2);
  StrandOwner owner(runtime);
  const uint64_t id = Runtime::timer(owner.strand, 3'600'000'000'000, &Ended::on, &ended);
  Runtime::cancel(owner.strand, id);
  Runtime::cancel(owner.strand, id);
  Runtime::cancel(owner.strand, 999'999);
  ASSERT_TRUE(ended.gate.wait(1));
  EXPECT_TRUE(runtime.shutdown(forever));
  EXPECT_EQ(ended.unfired, 1);
  EXPECT_EQ(ended.fired, 0);
}

TEST(StrandTimer, RacesOfFiringAndCancellingEndEachExactlyOnce) {
  Ended ended;
  Runtime runtime(4);
  StrandOwner owner(runtime);
  constexpr int timers = 3000;
  for (int i = 0; i < timers; ++i) {
    const uint64_t id = Runtime::timer(owner.strand, (i % 7) * 1000, &Ended::on, &ended);
    Runtime::cancel(owner.strand, id);
  }
  EXPECT_TRUE(runtime.shutdown(forever));
  EXPECT_EQ(ended.fired + ended.unfired, timers);
}

TEST(StrandTimer, WaitingOnesEndUnfiredAtShutdownAndAfterIt) {
  Ended ended;
  Runtime runtime(2);
  StrandOwner owner(runtime);
  for (int i = 0; i < 50; ++i) Runtime::timer(owner.strand, INT64_MAX, &Ended::on, &ended);
  EXPECT_TRUE(runtime.shutdown(Clock::now() + 20s));
  EXPECT_EQ(ended.unfired, 50);
  Runtime::timer(owner.strand, 0, &Ended::on, &ended);
  Runtime::post(
      owner.strand, [](void* e) { static_cast<Ended*>(e)->gate.arrive(); }, &ended);
  runtime.run_rest();
  EXPECT_EQ(ended.unfired, 51);
  EXPECT_EQ(ended.gate.count(), 52);
}

TEST(Shutdown, GivesUpAtTheDeadlineAndNamesWhoIsBusy) {
  Gate entered, leave;
  std::pair<Gate*, Gate*> gates{&entered, &leave};
  Runtime runtime(2);
  runtime.pool("storage", 1)
      .post(
          [](void* arg) {
            auto [in, out] = *static_cast<std::pair<Gate*, Gate*>*>(arg);
            in->arrive();
            out->wait(1);
          },
          &gates);
  ASSERT_TRUE(entered.wait(1));
  EXPECT_FALSE(runtime.shutdown(Clock::now() + 20ms));
  EXPECT_EQ(runtime.busy(), "storage");
  leave.arrive();
  EXPECT_TRUE(runtime.shutdown(forever));
}

// Nobody else listens when the workers are held.
TEST(Signals, AreHeardWhileEveryWorkerIsHeld) {
  sigset_t before;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  Signals::keep();
  {
    Gate holds, leave, told;
    Runtime runtime(1);
    runtime.post([&] {
      holds.arrive();
      leave.wait(1);
    });
    ASSERT_TRUE(holds.wait(1));
    int heard = 0;
    const Signals signals([&](int signal) {
      heard = signal;
      told.arrive();
    });
    ::kill(::getpid(), SIGTERM);
    EXPECT_TRUE(told.wait(1));
    EXPECT_EQ(heard, SIGTERM);
    leave.arrive();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Shutdown, NamesWhoseStrandTaskDoesNotReturn) {
  Gate in, out;
  std::pair<Gate*, Gate*> gates{&in, &out};
  Runtime runtime(1);
  davit_strand* strand = runtime.strand("applier");
  Runtime::post(
      strand,
      [](void* arg) {
        auto [entered, leave] = *static_cast<std::pair<Gate*, Gate*>*>(arg);
        entered->arrive();
        leave->wait(1);
      },
      &gates);
  ASSERT_TRUE(in.wait(1));
  EXPECT_EQ(runtime.busy(), "applier");
  out.arrive();
  EXPECT_TRUE(runtime.shutdown(forever));
  EXPECT_EQ(runtime.busy(), "workers");
  Runtime::release(strand);
}

}  // namespace
}  // namespace davit::host
