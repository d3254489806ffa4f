// Waits that end with their caller (S11): for a lock of another program, and for the writer's turn.
#include <future>

#include "plugin_under_test.hpp"
#include "writer_lock.hpp"

namespace davit::storage_sqlite {
namespace {

using namespace std::chrono_literals;

// Another program that holds the write lock of the file.
class Locker {
 public:
  explicit Locker(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~Locker() { sqlite3_close(db_); }
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;

 private:
  sqlite3* db_ = nullptr;
};

TEST(Cancel, AWaitForAnotherProgramEndsWithItsCaller) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/davit.db";
  constexpr auto limit_of_sqlite = 4'500ms;  // its own is 5 s
  Life life(path);
  ASSERT_EQ(commit(life.client, group("a")), "");
  {
    const Locker locker(path);
    const Operation operation;
    auto call = std::async(std::launch::async,
                           [&] { return life.client.under(operation).commit_now({group("b")}); });
    EXPECT_EQ(call.wait_for(300ms), std::future_status::timeout) << "it waits for the lock";
    auto begin = std::chrono::steady_clock::now();
    operation.cancel();
    const auto cancelled = call.get();
    ASSERT_FALSE(cancelled.ok());
    EXPECT_EQ(cancelled.error().code, Code::cancelled) << cancelled.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limit_of_sqlite);
    begin = std::chrono::steady_clock::now();
    const Operation soon((life.host.host().now() + 100ms).count());
    const auto late = life.client.under(soon).commit_now({group("c")});
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, Code::deadline_exceeded) << late.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, limit_of_sqlite);
  }
  EXPECT_EQ(commit(life.client, group("d")), "");
  EXPECT_EQ(count(life.client), 2u);
}

TEST(Cancel, WhoGivesUpLeavesTheWritersTurnToTheNext) {
  testing::TestHost host("main", {});
  WriterLock writer_lock;
  writer_lock.lock();
  const Operation operation;
  auto gives_up = std::async(std::launch::async, [&] {
    const auto taken = writer_lock.take(operation, host.host());
    return taken.ok() ? Code::ok : taken.error().code;
  });
  EXPECT_EQ(gives_up.wait_for(50ms), std::future_status::timeout);
  auto waits = std::async(std::launch::async, [&] {
    const auto taken = writer_lock.take(Op(), host.host());
    return taken.ok();
  });
  operation.cancel();
  EXPECT_EQ(gives_up.get(), Code::cancelled);
  EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout) << "the lock is taken";
  const Operation past(host.host().now().count() - 1);
  const auto late = writer_lock.take(past, host.host());
  EXPECT_FALSE(late.ok());
  writer_lock.unlock();
  EXPECT_TRUE(waits.get());
}

}  // namespace
}  // namespace davit::storage_sqlite
