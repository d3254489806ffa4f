// The rules of a call that is made, on a transport that the test plays.
#include "rpc/started_call.hpp"

#include "rpc/caller.hpp"
#include "services/log.hpp"
#include "strand.hpp"

namespace davit::host {
namespace {

class PlayedStarted final : public StartedCall::Transport {
 public:
  PlayedStarted(Caller& caller, Callbacks callbacks, std::string& asked, std::atomic<bool>& gone)
      : call(caller, "t.v1.S/M", std::move(callbacks), *this), asked_(asked), gone_(gone) {}
  PlayedStarted(const PlayedStarted&) = delete;
  PlayedStarted& operator=(const PlayedStarted&) = delete;
  StartedCall call;

 private:
  ~PlayedStarted() = default;
  void start_read() override { ask("read"); }
  void start_write(davit_buf* const* parts, size_t) override {
    ask("write:" + std::string(reinterpret_cast<const char*>(parts[0]->data), parts[0]->size));
  }
  void start_half_close() override { ask("half_close"); }
  void start_cancel() override { ask("cancel"); }
  void let_go() override { ask("let_go"); }
  void destroy() override {
    gone_ = true;
    delete this;
  }
  void ask(const std::string& what) { asked_ += (asked_.empty() ? "" : " ") + what; }

  std::string& asked_;
  std::atomic<bool>& gone_;
};

class StartedCallTest : public ::testing::Test {
 protected:
  StartedCallTest()
      : call(&(new PlayedStarted(caller,
                                 Callbacks(recorder.strand(), Recorder::handler(), &recorder),
                                 asked, gone))
                  ->call) {
    caller.begun(call);
  }
  ~StartedCallTest() override {
    EXPECT_TRUE(gone) << "the call is still there";
    EXPECT_TRUE(caller.end_all(std::chrono::steady_clock::now()));
  }

  // What is logged of a plugin that breaks the contract is written down as well.
  Log log{[this](std::string_view line) {
    const size_t what = line.find("what=\"") + 6;
    asked += " misused:" + std::string(line.substr(what, line.rfind('"') - what));
  }};
  ClientSettings settings;
  Caller caller{log, settings};
  Recorder recorder;
  std::string asked;
  std::atomic<bool> gone{false};
  StartedCall* call;
};

TEST_F(StartedCallTest, ReadsOneMessageAheadAndDeliversWhatIsGranted) {
  call->begin();
  call->on_read(Buffer::of("a"), true);
  EXPECT_EQ(recorder.told(), "");
  EXPECT_EQ(asked, "read");  // one ahead, and no more
  call->read();
  EXPECT_EQ(recorder.told(), "message:a");
  EXPECT_EQ(asked, "read read");
  call->read();
  call->on_read(Buffer::of("b"), true);
  EXPECT_EQ(recorder.told(), "message:a message:b");
  call->on_read({}, false);
  call->on_ended({});
  EXPECT_EQ(recorder.told(), "message:a message:b done:0");
  EXPECT_EQ(asked, "read read read let_go");
}

TEST_F(StartedCallTest, AGrantedReadIsAnsweredAtTheEnd) {
  call->begin();
  call->read();
  call->on_read({}, false);
  call->on_ended({Code::unavailable, ""});
  EXPECT_EQ(recorder.told(), "end done:14");
}

TEST_F(StartedCallTest, OneWriteAtATime) {
  call->begin();
  write_text(*call, "x");
  write_text(*call, "y");
  call->on_written(true);
  EXPECT_EQ(recorder.told(), "writable");
  write_text(*call, "z");
  call->half_close();
  call->half_close();
  call->on_written(true);
  write_text(*call, "late");
  EXPECT_EQ(recorder.told(), "writable");
  EXPECT_EQ(
      asked,
      "read write:x misused:wrote again before on_writable, or after half_close write:z half_close "
      "misused:wrote again before on_writable, or after half_close");
  call->on_read({}, false);
  call->on_ended({});
  recorder.told();
}

TEST_F(StartedCallTest, CancellingDropsWhatWasReadAheadAndIsDoneOnce) {
  call->begin();
  call->on_read(Buffer::of("a"), true);
  call->cancel();
  call->cancel();
  write_text(*call, "x");
  call->half_close();
  EXPECT_EQ(asked, "read cancel let_go");
  call->read();
  call->on_ended({Code::cancelled, ""});
  EXPECT_EQ(recorder.told(), "end done:1");
}

TEST_F(StartedCallTest, CancellingWithAReadOnItsWayLetsGoOnce) {
  call->begin();
  call->read();
  call->cancel();
  call->on_read(Buffer::of("crossed"), true);
  EXPECT_EQ(asked, "read cancel let_go");
  call->on_ended({Code::cancelled, ""});
  EXPECT_EQ(recorder.told(), "done:1");
}

TEST_F(StartedCallTest, ACallThatNeverBeganIsDone) {
  std::promise<void> held;
  auto release = held.get_future();
  Runtime::post(
      recorder.strand(), [](void* f) { static_cast<std::future<void>*>(f)->wait(); }, &release);
  call->fail({Code::unauthenticated, ""});
  write_text(*call, "x");
  call->half_close();
  call->read();  // as a caller does that has just started it
  held.set_value();
  EXPECT_EQ(recorder.told(), "done:16");
  EXPECT_EQ(asked, "");
}

}  // namespace
}  // namespace davit::host
