// Hints (S9).
#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage.hpp"

namespace davit::conformance {
namespace {

constexpr std::chrono::seconds soon{5};

// One watch, and what it has heard.
class Listener {
 public:
  explicit Listener(Store& store) {
    auto watch = store->watch(&Listener::hint, this);
    EXPECT_TRUE(watch.ok()) << why(watch);
    if (watch.ok()) watch_ = std::move(*watch);
  }
  void end() { watch_.end(); }
  void forget() {
    const std::lock_guard lock(mutex_);
    what_ = 0;
  }
  // Waits for a hint that says one of `what`.
  bool wait(uint32_t what = UINT32_MAX) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, soon, [&] { return (what_ & what) != 0; });
  }
  bool nothing() {
    const std::lock_guard lock(mutex_);
    return what_ == 0;
  }

 private:
  static void hint(void* self, uint32_t what) {
    auto& h = *static_cast<Listener*>(self);
    const std::lock_guard lock(h.mutex_);
    h.what_ |= what;
    h.came_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable came_;
  uint32_t what_ = 0;
  storage::Watch watch_;  // last: no hint comes after it has gone
};

class StorageHints : public ::testing::Test {
 protected:
  void SetUp() override {
    if (store_.vtable()->watch == nullptr)
      GTEST_SKIP() << "this backend gives no hints; readers poll";
  }
  Store store_;
};

TEST_F(StorageHints, S9_AHintFollowsACommitUntilTheWatchEnds) {
  Listener heard(store_);
  put(*store_, record("a"));
  EXPECT_TRUE(heard.wait(DAVIT_HINT_RECORDS));
  heard.end();
  heard.forget();
  put(*store_, record("b"));
  EXPECT_TRUE(heard.nothing());
}

TEST_F(StorageHints, S9_AHintFollowsAReportAndAProgress) {
  put(*store_, record("a"));
  Listener heard(store_);
  ASSERT_TRUE(store_->report_now({status("a", 1)}).ok());
  ASSERT_TRUE(heard.wait(DAVIT_HINT_STATUSES));
  ASSERT_TRUE(store_->progress({"r1", "agent", "davit", 1, {}, {}, 1}).ok());
  EXPECT_TRUE(heard.wait(DAVIT_HINT_AGENTS));
}

TEST_F(StorageHints, S9_EveryWatchIsHintedAndOneThatEndsSilencesNoOther) {
  Listener first(store_), second(store_), third(store_);
  put(*store_, record("a"));
  for (Listener* heard : {&first, &second, &third}) EXPECT_TRUE(heard->wait());
  second.end();
  for (Listener* heard : {&first, &second, &third}) heard->forget();
  put(*store_, record("b"));
  EXPECT_TRUE(first.wait());
  EXPECT_TRUE(third.wait());
  EXPECT_TRUE(second.nothing());
}

// A hint that is in no hurry: it stays until its watch has ended, or for a second.
struct Slow {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false, left = false, ended = false;

  static void hint(void* self, uint32_t) {
    auto& s = *static_cast<Slow*>(self);
    std::unique_lock lock(s.mutex);
    if (std::exchange(s.inside, true)) return;
    s.changed.notify_all();
    s.changed.wait_for(lock, std::chrono::seconds(1), [&s] { return s.ended; });
    s.left = true;
  }
};

TEST_F(StorageHints, S9_TheEndOfAWatchWaitsForAHintThatRuns) {
  Slow slow;
  auto watch = store_->watch(&Slow::hint, &slow);
  ASSERT_TRUE(watch.ok()) << why(watch);
  std::thread writer([this] { put(*store_, record("a")); });
  {
    std::unique_lock lock(slow.mutex);
    EXPECT_TRUE(slow.changed.wait_for(lock, soon, [&] { return slow.inside; }));
  }
  watch->end();
  {
    const std::lock_guard lock(slow.mutex);
    EXPECT_TRUE(slow.left) << "the watch had ended, and its hint was still running";
    slow.ended = true;
  }
  slow.changed.notify_all();
  writer.join();
}

}  // namespace
}  // namespace davit::conformance
