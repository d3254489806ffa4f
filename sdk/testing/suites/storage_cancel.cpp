// Callers that give up while a call runs, and deadlines that pass (S11).
#include <condition_variable>
#include <thread>

#include "storage.hpp"

namespace davit::conformance {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t many = 1000;

// Commits this many records, in as many groups as the store needs.
void fill_with_records(Store& store) {
  const uint32_t size = group_size(*store, 500);
  for (uint32_t begun = 0; begun < many;) {
    Group group;
    for (uint32_t i = 0; i < size && begun < many; ++i)
      group.mutations.push_back({record("a" + std::to_string(begun++))});
    ASSERT_FALSE(commit(*store, group).error);
  }
}

bool is_about_the_op(const Error& error) {
  return error.code == Code::cancelled || error.code == Code::deadline_exceeded;
}

// An open transaction would block the write, and would show in the read.
void expect_nothing_left_open(Store& store) {
  const Version head = store->head()->head.version;
  const Version after = put(*store, record("after"));
  EXPECT_GT(after, head);
  EXPECT_EQ(store->head()->head.version, after);
}

TEST(StorageCancel, S11_AReadThatIsCancelledVisitsNoMoreThanWhatItHasAtHand) {
  Store store;
  fill_with_records(store);
  const Operation operation;
  uint32_t visited = 0;
  const auto page =
      store->under(operation).read({{}, {}, 0, many, UINT64_MAX}, [&](const davit_record&) {
        if (++visited == 1) operation.cancel();
        return true;
      });
  EXPECT_TRUE(page.ok() || page.error().code == Code::cancelled) << why(page);
  EXPECT_LT(visited, many) << "nobody looks whether the caller still waits";
  expect_nothing_left_open(store);
}

TEST(StorageCancel, S11_AReadWhoseDeadlinePassesVisitsNoMoreThanWhatItHasAtHand) {
  Store store;
  fill_with_records(store);
  const auto now = [&] { return store.fresh().host().host().now(); };
  const Operation operation((now() + 200ms).count());
  uint32_t visited = 0;
  const auto page =
      store->under(operation).read({{}, {}, 0, many, UINT64_MAX}, [&](const davit_record&) {
        while (++visited == 1 && now().count() <= operation.deadline_ns())
          std::this_thread::sleep_for(10ms), visited = 0;
        return true;
      });
  EXPECT_TRUE(page.ok() || page.error().code == Code::deadline_exceeded) << why(page);
  EXPECT_LT(visited, many) << "nobody looks at the deadline";
  expect_nothing_left_open(store);
}

TEST(StorageCancel, S11_ACommitWhoseDeadlineIsPastCommitsAllOrNothing) {
  Store store;
  put(*store, record("before"));
  const Operation past(store.fresh().host().host().now().count() - 1);
  const Version head = store->head()->head.version;
  const auto results = store->under(past).commit_now({{{{record("late")}}, {}}});
  const bool done = results.ok() && !results->front().error;
  EXPECT_TRUE(results.ok() || results.error().code == Code::deadline_exceeded) << why(results);
  EXPECT_EQ(get(*store, "late").has_value(), done);
  EXPECT_EQ(store->head()->head.version, done ? results->front().first_version : head);
  expect_nothing_left_open(store);
}

// The caller gives up at any moment of the commit. Whatever the answer is, it is true.
TEST(StorageCancel, S11_ACommitThatIsCancelledMeanwhileIsDoneOrUndoneAsItsAnswerSays) {
  Store store;
  put(*store, record("before"));
  const uint32_t size = group_size(*store, 200);
  for (int round = 0; round < 40; ++round) {
    Group group;
    for (uint32_t i = 0; i < size; ++i)
      group.mutations.push_back({record(std::to_string(round) + "-" + std::to_string(i))});
    const Version head = store->head()->head.version;
    const Operation operation;
    std::thread caller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(50 * round));
      operation.cancel();
    });
    if (round < 3) caller.join();  // before it begins
    const auto begin = std::chrono::steady_clock::now();
    const auto results = store->under(operation).commit_now({group});
    if (caller.joinable()) caller.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    const bool done = results.ok() && !results->front().error;
    EXPECT_TRUE(results.ok() || is_about_the_op(results.error())) << why(results);
    const Version last = done ? results->front().first_version + size - 1 : head;
    ASSERT_EQ(store->head()->head.version, last) << "round " << round;
  }
  expect_nothing_left_open(store);
}

// While one reader's caller has given up, another one reads on undisturbed.
TEST(StorageCancel, S11_TheCallsOfOthersGoOn) {
  Store store;
  if (store.max_concurrency() < 2) GTEST_SKIP() << "this storage makes one call at a time";
  fill_with_records(store);
  std::atomic<bool> over{false};
  std::atomic<int> given_up{0}, read{0};
  std::thread gives_up([&] {
    while (!over) {
      const Operation operation;
      (void)store->under(operation).read({{}, {}, 0, many, UINT64_MAX}, [&](const davit_record&) {
        operation.cancel();
        return true;
      });
      ++given_up;
      // The next call that begins is one of somebody else.
      for (const int before = read; !over && read < before + 2;) std::this_thread::yield();
    }
  });
  for (; read < 50 || given_up < 10; ++read) {
    uint32_t visited = 0;
    const auto page =
        store->read({{}, {}, 0, many, UINT64_MAX}, [&](const davit_record&) { return ++visited; });
    EXPECT_TRUE(page.ok()) << why(page);
    EXPECT_EQ(visited, many);
  }
  over = true;
  gives_up.join();
}

TEST(StorageCancel, S11_AFinishedCallIsToldOfNothing) {
  Store store;
  const Operation operation;
  put(*store, record("a"));
  EXPECT_TRUE(store->under(operation)
                  .read({{}, {}, 0, 10, UINT64_MAX}, [](const davit_record&) { return true; })
                  .ok());
  operation.cancel();  // a registration that was left behind would be called now
  expect_nothing_left_open(store);
}

}  // namespace
}  // namespace davit::conformance
