// The rules of a served call, on a transport that the test plays.
#include "rpc/served_call.hpp"

#include "services/log.hpp"
#include "strand.hpp"

namespace davit::host {
namespace {

// Writes down what it is to do; the test says what came of it.
class PlayedServed final : public ServedCall::Transport {
 public:
  PlayedServed(Serving& serving, const Method& m, std::string& asked, bool& gone)
      : call(serving,
             {m,
              std::make_shared<const Identity>("token \"t\"", "t", "agent",
                                               std::vector<std::string>{"r"}),
              nullptr,
              "peer",
              {{"key", "value"}},
              7},
             *this),
        asked_(asked),
        gone_(gone) {}
  PlayedServed(const PlayedServed&) = delete;
  PlayedServed& operator=(const PlayedServed&) = delete;
  ServedCall call;
  bool has_room = false;

 private:
  ~PlayedServed() { gone_ = true; }
  void start_read() override { ask("read"); }
  bool start_write(davit_buf* const* parts, size_t n, bool last, const Pairs& headers) override {
    std::string text;
    for (size_t i = 0; i < n; ++i)
      text.append(reinterpret_cast<const char*>(parts[i]->data), parts[i]->size);
    for (const auto& [key, value] : headers) text += " " + key + "=" + value;
    ask((last ? "keep:" : "write:") + text);
    return has_room;
  }
  void send_end(const End& end, const Pairs&) override {
    ask("end:" + std::to_string(static_cast<int>(end.code)));
  }
  void drop_connection() override { ask("drop"); }
  void on_taken() override {}
  void destroy() override { delete this; }
  void ask(const std::string& what) { asked_ += (asked_.empty() ? "" : " ") + what; }

  std::string& asked_;
  bool& gone_;
};

class ServedCallTest : public ::testing::Test {
 protected:
  ServedCallTest() {
    method.path = "t.v1.S/M";
    method.streaming = DAVIT_RPC_SERVER_STREAMS;
    method.request_bytes_max = 10;
    method.on_call = [](void*, davit_rpc_call*) {};
    transport = new PlayedServed(serving, method, asked, gone);
    call = &transport->call;
  }
  ~ServedCallTest() override {
    EXPECT_TRUE(gone) << "the call is still there";
    EXPECT_EQ(serving.open.size(), 0u);
  }
  void accept() {
    call->accept(recorder.strand(), Recorder::handler(), &recorder);
    call->offer();
  }
  void finish(Code code) {
    const davit_rpc_end end = {sizeof end, static_cast<int32_t>(code), {}, nullptr, 0, nullptr, 0};
    call->finish(end);
  }

  // What is logged of a method that breaks the contract is written down as well.
  Log log{[this](std::string_view line) {
    const size_t what = line.find("what=\"") + 6;
    asked += " misused:" + std::string(line.substr(what, line.rfind('"') - what));
  }};
  Serving serving{log, {Code::unavailable, "going down"}};
  Recorder recorder;
  Method method;
  std::string asked;
  bool gone = false;
  PlayedServed* transport = nullptr;
  ServedCall* call = nullptr;
};

TEST_F(ServedCallTest, GrantsOneReadAndOneWriteAtATime) {
  accept();
  call->read();
  call->on_read(Buffer::of("a"), true);
  EXPECT_EQ(recorder.told(), "message:a");
  write_text(*call, "x");
  EXPECT_EQ(recorder.told(), "message:a");
  call->on_written(true);
  EXPECT_EQ(recorder.told(), "message:a writable");
  call->read();
  call->on_read({}, false);
  EXPECT_EQ(recorder.told(), "message:a writable end");
  finish(Code::ok);
  call->on_ended();
  EXPECT_EQ(recorder.told(), "message:a writable end done:0");
  EXPECT_EQ(asked, "read write:x read end:0");
}

TEST_F(ServedCallTest, IsWritableAtOnceWhileTheTransportHasRoom) {
  accept();
  transport->has_room = true;
  write_text(*call, "x");
  EXPECT_EQ(recorder.told(), "writable");
  transport->has_room = false;
  write_text(*call, "y");
  EXPECT_EQ(recorder.told(), "writable");
  call->on_written(true);
  EXPECT_EQ(recorder.told(), "writable writable");
  transport->has_room = true;
  write_text(*call, "z");
  finish(Code::ok);
  EXPECT_EQ(asked, "write:x write:y write:z end:0") << "what has room is not waited for";
  call->on_ended();
  EXPECT_TRUE(recorder.told().ends_with("done:0"));
}

TEST_F(ServedCallTest, AWriteBeforeItsTurnEndsTheCallThoughThereIsRoom) {
  accept();
  transport->has_room = true;
  {
    const Recorder::Halt halt(recorder);
    write_text(*call, "x");
    write_text(*call, "y");
  }
  EXPECT_EQ(asked, "write:x misused:wrote again before on_writable end:13");
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:13");
}

TEST_F(ServedCallTest, FinishWaitsForTheWriteBeforeIt) {
  accept();
  write_text(*call, "x");
  finish(Code::ok);
  EXPECT_EQ(asked, "write:x");
  call->on_written(true);
  EXPECT_EQ(asked, "write:x end:0");
  write_text(*call, "late");
  finish(Code::internal);
  EXPECT_EQ(asked, "write:x end:0");
  call->on_ended();
  EXPECT_EQ(recorder.told(), "done:0");
}

TEST_F(ServedCallTest, NothingIsWritableOnceItIsCancelled) {
  accept();
  write_text(*call, "x");
  call->on_cancelled();
  call->on_cancelled();
  call->on_written(true);
  EXPECT_EQ(recorder.told(), "cancel");
  finish(Code::cancelled);
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:1");
}

TEST_F(ServedCallTest, IsNotCancelledAfterItIsFinished) {
  accept();
  finish(Code::ok);
  call->on_cancelled();
  call->on_ended();
  EXPECT_EQ(recorder.told(), "done:0");
}

TEST_F(ServedCallTest, KeepsTheOneAnswerForTheEnd) {
  method.streaming = 0;
  accept();
  write_text(*call, "x");
  EXPECT_EQ(recorder.told(), "writable");
  finish(Code::ok);
  EXPECT_EQ(asked, "keep:x end:0");
  call->on_ended();
  EXPECT_EQ(recorder.told(), "writable done:0");
}

TEST_F(ServedCallTest, RefusesARequestThatIsTooLarge) {
  accept();
  call->read();
  call->on_read(Buffer::of("12345678901"), true);
  EXPECT_EQ(asked, "read end:8");
  EXPECT_EQ(recorder.told(), "cancel");
  finish(Code::ok);
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:8");
}

TEST_F(ServedCallTest, AWriteOutOfTurnEndsTheCall) {
  accept();
  write_text(*call, "x");
  write_text(*call, "y");
  EXPECT_EQ(asked, "write:x misused:wrote again before on_writable");
  EXPECT_EQ(recorder.told(), "cancel");
  call->on_written(true);
  EXPECT_EQ(asked, "write:x misused:wrote again before on_writable end:13");
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:13");
}

TEST_F(ServedCallTest, AReadOutOfTurnIsIgnored) {
  accept();
  call->read();
  call->read();
  EXPECT_EQ(asked, "read misused:read again before on_message");
  finish(Code::ok);
  call->on_ended();
  recorder.told();
}

TEST_F(ServedCallTest, MayBeFinishedWithoutBeingAccepted) {
  finish(Code::unavailable);
  call->on_ended();
  EXPECT_FALSE(gone);  // on_call runs still
  call->offer();
  EXPECT_TRUE(gone);
}

TEST_F(ServedCallTest, AcceptedAfterItsEndItIsToldEverything) {
  call->offer();
  call->end_now({Code::unavailable, ""});
  call->on_ended();
  EXPECT_FALSE(gone);
  call->accept(recorder.strand(), Recorder::handler(), &recorder);
  EXPECT_EQ(recorder.told(), "cancel done:14");
}

TEST_F(ServedCallTest, TellsWhatTheTransportKnew) {
  accept();
  EXPECT_EQ(view(call->peer()), "peer");
  EXPECT_EQ(view(call->metadata(str("key"))), "value");
  EXPECT_EQ(view(call->metadata(str("other"))), "");
  EXPECT_EQ(call->deadline_ns(), 7);
  const davit_pair header{str("a"), str("1")};
  call->headers(&header, 1);
  write_text(*call, "x");
  call->on_written(true);
  finish(Code::ok);
  EXPECT_EQ(asked, "write:x a=1 end:0");
  call->on_ended();
  recorder.told();
}

TEST_F(ServedCallTest, WhileTheServerShutsDownTheCallerIsToComeBack) {
  serving.open.drain();
  accept();
  EXPECT_EQ(recorder.told(), "cancel") << "it was not there when the others were asked";
  finish(Code::cancelled);
  EXPECT_EQ(asked, "end:14");
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:14");
}

TEST_F(ServedCallTest, OneThatWaitsForItsRequestTooLongIsEnded) {
  method.streaming = 0;
  accept();
  const End late{Code::deadline_exceeded, "late"};
  serving.open.end_late(std::chrono::steady_clock::time_point::max(), late);
  call->read();
  EXPECT_EQ(asked, "read");
  serving.open.end_late(std::chrono::steady_clock::time_point::max(), late);
  EXPECT_EQ(asked, "read end:4");
  EXPECT_EQ(recorder.told(), "cancel");
  finish(Code::ok);
  call->on_ended();
  EXPECT_EQ(recorder.told(), "cancel done:4");
}

TEST_F(ServedCallTest, FinishedAfterItsEndItGoes) {
  call->offer();
  call->end_now({Code::unavailable, ""});
  call->on_ended();
  finish(Code::ok);
  EXPECT_TRUE(gone);
  EXPECT_EQ(asked, "end:14");
}

}  // namespace
}  // namespace davit::host
