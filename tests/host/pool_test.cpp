#include "runtime/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>

namespace davit::host {
namespace {

using namespace std::chrono_literals;
constexpr auto no_deadline = std::chrono::steady_clock::time_point::max();

struct Meter {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0, most = 0, total = 0;
  int wait_for_inside = 0;  // stay until so many are inside together
  std::vector<int> order;
};

void enter(void* arg) {
  auto& m = *static_cast<Meter*>(arg);
  std::unique_lock lock(m.mutex);
  m.most = std::max(m.most, ++m.inside);
  m.changed.notify_all();
  m.changed.wait_for(lock, 20s, [&] { return m.most >= m.wait_for_inside; });
  --m.inside;
  ++m.total;
}

TEST(Pool, RunsAtMostItsBoundAtOnceAndReachesIt) {
  Pool pool("main", 3);
  Meter meter;
  meter.wait_for_inside = 3;
  for (int i = 0; i < 200; ++i) pool.post(&enter, &meter);
  EXPECT_TRUE(pool.shutdown(no_deadline));
  EXPECT_EQ(meter.total, 200);
  EXPECT_EQ(meter.most, 3);
}

TEST(Pool, OfOneKeepsTheOrder) {
  Pool pool("main", 0);  // 0 counts as 1
  struct Task {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order, expected;
  std::vector<Task> tasks;
  for (int i = 0; i < 500; ++i) tasks.push_back({&order, i}), expected.push_back(i);
  for (Task& t : tasks) {
    pool.post(
        [](void* a) { static_cast<Task*>(a)->order->push_back(static_cast<Task*>(a)->number); },
        &t);
  }
  EXPECT_TRUE(pool.shutdown(no_deadline));
  EXPECT_EQ(order, expected);
}

TEST(Pool, NamesItsThreadsAfterTheInstance) {
  Pool pool("a_name_longer_than_fifteen", 1);
  char name[16] = {};
  pool.post([](void* n) { pthread_getname_np(pthread_self(), static_cast<char*>(n), 16); }, name);
  EXPECT_TRUE(pool.shutdown(no_deadline));
  EXPECT_STREQ(name, "a_name_longer_t");
}

TEST(Pool, ATaskPostedByATaskAtShutdownStillRuns) {
  Pool pool("main", 1);
  struct Chain {
    Pool* pool;
    std::atomic<int> left;
  } chain{&pool, 10};
  static void (*step)(void*) = [](void* c) {
    auto& self = *static_cast<Chain*>(c);
    if (--self.left > 0) self.pool->post(step, c);
  };
  pool.post(step, &chain);
  EXPECT_TRUE(pool.shutdown(no_deadline));
  EXPECT_EQ(chain.left, 0);
}

TEST(Pool, KnowsWhoseCallsHaveNotEnded) {
  Pool pool("main", 2);
  Meter meter;
  meter.wait_for_inside = 3;  // which the third task brings about
  pool.post(&enter, &meter, "desired");
  EXPECT_EQ(pool.wait_for_guests(std::chrono::steady_clock::now() + 10ms), "desired");
  pool.post(&enter, &meter);
  {
    std::lock_guard lock(meter.mutex);
    meter.most = 3;
    meter.changed.notify_all();
  }
  EXPECT_EQ(pool.wait_for_guests(std::chrono::steady_clock::now() + 20s), "");
  EXPECT_TRUE(pool.shutdown(no_deadline));
}

TEST(Pool, AfterShutdownTheCallerRunsTheTask) {
  Pool pool("main", 1);
  EXPECT_TRUE(pool.shutdown(no_deadline));
  bool ran = false;
  pool.post([](void* r) { *static_cast<bool*>(r) = true; }, &ran);
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace davit::host
