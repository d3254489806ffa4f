// How a watch of the role records ends, whatever its read of the store is doing.
#include "feed.hpp"

#include <gtest/gtest.h>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

// The threads of a host. The next task that is posted waits for what the test does first, as it may
// when its thread is not scheduled.
class LatePost {
 public:
  explicit LatePost(testing::TestHost& host) {
    real_ = host.host().service<davit_exec>(DAVIT_EXEC);
    table_ = *real_;
    table_.post = [](davit_strand* strand, davit_task task, void* arg) {
      if (const auto first = std::exchange(before_post, nullptr)) first();
      real_->post(strand, task, arg);
    };
    host.add_service(DAVIT_EXEC, &table_);
  }
  ~LatePost() { before_post = nullptr; }
  static inline std::function<void()> before_post;

 private:
  static inline const davit_exec* real_ = nullptr;
  davit_exec table_{};
};

class FeedTest : public ::testing::Test {
 protected:
  FeedTest()
      : late_(host_),
        client_(testing::client_of(host_, store_)),
        shared_(host_.host(), client_, {}, *Kinds::find(host_.host()), {}),
        feed_(Feed::make(shared_, {},
                         {[this](const records::Event&) { ++events_; },
                          [this](const std::optional<Error>& why) {
                            ended_.push_back(why ? why->message : "cancelled");
                          }})) {
    host_.run();
  }

  testing::TestHost host_{"plugin", {}, testing::TestHost::Time::manual};
  LatePost late_;
  testing::EmptyStorage store_;
  storage::Client client_;
  Shared shared_;
  int events_ = 0;
  std::vector<std::string> ended_;
  std::shared_ptr<Feed> feed_;
};

// The read hears of the cancel first, and its answer comes before the cancel itself.
TEST_F(FeedTest, AWatchThatIsCancelledInItsReadEndsWithoutAReason) {
  feed_->credit(10);  // posts the read, which has not begun
  LatePost::before_post = [this] { host_.run(); };
  feed_->cancel();
  host_.run();
  EXPECT_EQ(ended_, std::vector<std::string>{"cancelled"});
  EXPECT_EQ(events_, 0);
}

TEST_F(FeedTest, AWatchThatIsCancelledBeforeItReadsEndsWithoutAReason) {
  feed_->cancel();
  host_.run();
  EXPECT_EQ(ended_, std::vector<std::string>{"cancelled"});
}

// The same of a stop: the read hears first that the plugin stops.
TEST_F(FeedTest, AWatchWhoseReadAStopInterruptsEndsAsItsPluginDoes) {
  feed_->credit(10);
  shared_.operations.cancel();
  shared_.stopping = true;
  host_.run();
  EXPECT_EQ(ended_, std::vector<std::string>{shutting_down().message});
}

TEST_F(FeedTest, AWatchEndsOnce) {
  feed_->credit(10);
  host_.run();
  EXPECT_EQ(events_, 1) << "synced";
  shared_.store_watcher.stop();
  feed_->cancel();
  host_.run();
  EXPECT_EQ(ended_, std::vector<std::string>{shutting_down().message});
}

}  // namespace
}  // namespace davit::desired
