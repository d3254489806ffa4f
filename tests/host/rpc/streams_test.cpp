// Server streams over real gRPC: flow control, cancellation, and many at once.
#include <atomic>
#include <set>

#include "rig.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using davit::rpc::End;
using davit::rpc::Handler;

davit::rpc::Method stream_method(const std::string& path) {
  davit::rpc::Method m;
  m.path = path;
  m.role = "agent";
  m.server_streams = true;
  return m;
}

// Accepts calls with handlers that `make` makes, each on a strand of its own.
template <class Make>
void serve_stream(Rig& rig, const std::string& path, Make make) {
  const auto server = rig.serving();
  const Host host = rig.server.host();
  const auto r = server.serve(stream_method(path), [server, host, make](Call call) {
    server.accept(call, host.strand(), make(call));
    call.read();
  });
  ASSERT_TRUE(r.ok()) << r.error().message;
}

// Sends `count` messages of `size` bytes, each after the one before is on its way.
struct Progress {
  std::atomic<int> written{0}, writable{0}, cancels{0}, dones{0}, writable_after_cancel{0};
};
class Sender : public Handler {
 public:
  Sender(Call call, Progress& p, int count, size_t size)
      : call_(call), progress_(p), left_(count), size_(size) {}
  void on_message(Buffer) override { next(); }
  void on_writable() override {
    ++progress_.writable;
    if (progress_.cancels > 0) ++progress_.writable_after_cancel;
    next();
  }
  void on_cancel() override {
    ++progress_.cancels;
    call_.finish({Code::cancelled, "gone"});
  }
  void on_done(const End&) override { ++progress_.dones; }

 private:
  void next() {
    if (left_-- == 0) return call_.finish({});
    ++progress_.written;
    call_.write(std::string(size_, static_cast<char>('a' + progress_.written % 26)));
  }
  Call call_;
  Progress& progress_;
  int left_;
  size_t size_;
};

// A client that grants reads only when the test says so.
class Reader : public Handler {
 public:
  struct Seen {
    std::mutex mutex;
    std::condition_variable changed;
    int messages = 0, ends = 0, dones = 0;
    Code code = Code::ok;
    std::string last;
    template <class So>
    bool wait(So so) {
      std::unique_lock lock(mutex);
      return changed.wait_for(lock, std::chrono::seconds(90), so);
    }
  };
  explicit Reader(Seen& s) : seen_(s) {}
  void on_message(Buffer m) override {
    note([&] {
      ++seen_.messages;
      seen_.last = m.view();
    });
  }
  void on_end_of_messages() override {
    note([&] { ++seen_.ends; });
  }
  void on_done(const End& end) override {
    note([&] {
      ++seen_.dones;
      seen_.code = end.code;
    });
  }

 private:
  template <class Change>
  void note(Change change) {
    const std::lock_guard lock(seen_.mutex);
    change();
    seen_.changed.notify_all();
  }
  Seen& seen_;
};

struct Started {
  Strand strand;
  Call call;
};
Started start(Side& side, const davit::rpc::Channel& channel, const std::string& path,
              Reader::Seen& seen) {
  Started out{side.host().strand(), {}};
  std::promise<void> ready;
  out.strand.post([&] {
    out.call = channel.start(path, out.strand, std::make_unique<Reader>(seen));
    out.call.write(std::string("go"));
    out.call.half_close();
    ready.set_value();
  });
  ready.get_future().wait();
  return out;
}

TEST(Stream, ComesInOrderAndEnds) {
  Rig rig;
  Progress progress;
  serve_stream(rig, "t.v1.S/Watch",
               [&](Call c) { return std::make_unique<Sender>(c, progress, 1'000, 100); });
  rig.start();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Watch", "go");
  EXPECT_EQ(o.code, Code::ok) << o;
  ASSERT_EQ(o.messages.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(o.messages[i][0], 'a' + (i + 1) % 26) << i;
  EXPECT_TRUE(eventually([&] { return progress.dones == 1; }));
  EXPECT_EQ(progress.cancels, 0);
}

TEST(Stream, APeerThatDoesNotReadHoldsTheWriter) {
  Rig rig;
  Progress progress;
  serve_stream(rig, "t.v1.S/Watch",
               [&](Call c) { return std::make_unique<Sender>(c, progress, 1'000, 1 << 20); });
  rig.start();
  Reader::Seen seen;
  const Started started = start(rig.client, rig.channel, "t.v1.S/Watch", seen);
  // Something is on its way; then the windows are full, and the writer stands still with one write
  // outstanding.
  ASSERT_TRUE(eventually([&] { return progress.written > 0; }));
  int last = -1, unchanged = 0;
  ASSERT_TRUE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int now = progress.written;
    unchanged = now == last ? unchanged + 1 : 0;
    last = now;
    return unchanged == 5;
  }));
  EXPECT_LT(progress.written, 50);
  EXPECT_TRUE(eventually([&] { return progress.written - progress.writable == 1; }));
  {
    const std::lock_guard lock(seen.mutex);
    EXPECT_EQ(seen.messages, 0);
  }
  const int before = progress.written;
  for (int i = 0; i < 20; ++i) {
    started.strand.post([&] { started.call.read(); });
    ASSERT_TRUE(seen.wait([&] { return seen.messages == i + 1; }));
  }
  EXPECT_TRUE(eventually([&] { return progress.written > before; }));
  started.strand.post([&] { started.call.cancel(); });
  EXPECT_TRUE(seen.wait([&] { return seen.dones == 1; }));
  EXPECT_TRUE(eventually([&] { return progress.dones == 1; }));
}

TEST(Stream, CancellingTellsBothEndsOnce) {
  Rig rig;
  Progress progress;
  serve_stream(rig, "t.v1.S/Watch",
               [&](Call c) { return std::make_unique<Sender>(c, progress, 1'000'000, 10'000); });
  rig.start();
  Reader::Seen seen;
  const Started started = start(rig.client, rig.channel, "t.v1.S/Watch", seen);
  started.strand.post([&] { started.call.read(); });
  ASSERT_TRUE(seen.wait([&] { return seen.messages == 1; }));
  started.strand.post([&] {
    started.call.cancel();
    started.call.cancel();
    started.call.read();
    started.call.write(std::string("too late"));
  });
  ASSERT_TRUE(seen.wait([&] { return seen.dones == 1; }));
  EXPECT_EQ(seen.code, Code::cancelled);
  EXPECT_TRUE(eventually([&] { return progress.dones == 1; }));
  EXPECT_EQ(progress.cancels, 1);
  EXPECT_EQ(progress.writable_after_cancel, 0);
}

TEST(Stream, AMessageOfManyPartsArrivesWhole) {
  Rig rig;
  class Parts : public Handler {
   public:
    explicit Parts(Call c) : call_(c) {}
    void on_message(Buffer) override {
      std::vector<Buffer> parts;
      for (int i = 0; i < 40; ++i)
        parts.push_back(Buffer::of(std::string(1 + i * 50, static_cast<char>('A' + i % 26))));
      call_.write(parts);
    }
    void on_writable() override { call_.finish({}); }
   private:
    Call call_;
  };
  serve_stream(rig, "t.v1.S/Parts", [](Call c) { return std::make_unique<Parts>(c); });
  rig.start();
  std::string whole;
  for (int i = 0; i < 40; ++i) whole += std::string(1 + i * 50, static_cast<char>('A' + i % 26));
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Parts", "");
  ASSERT_EQ(o.messages.size(), 1u) << o;
  EXPECT_TRUE(o.messages[0] == whole);
}

// A buffer that says when nobody holds it any more.
struct Counted {
  davit_buf abi{};
  std::atomic<int> references{0}, retains{0};
  std::string data;
  explicit Counted(std::string d) : data(std::move(d)) {
    abi.struct_size = sizeof abi;
    abi.data = reinterpret_cast<const uint8_t*>(data.data());
    abi.size = data.size();
    abi.retain = [](davit_buf* b) {
      ++reinterpret_cast<Counted*>(b)->references;
      ++reinterpret_cast<Counted*>(b)->retains;
    };
    abi.release = [](davit_buf* b) { --reinterpret_cast<Counted*>(b)->references; };
  }
};

TEST(Stream, ASharedFrameIsRetainedNotCopiedAndLetGo) {
  Rig rig;
  Counted frame(std::string(100'000, 'f'));
  class Once : public Handler {
   public:
    Once(Call c, Counted& f) : call_(c), frame_(f) {}
    void on_message(Buffer) override { call_.write(Buffer(&frame_.abi)); }
    void on_writable() override { call_.finish({}); }
   private:
    Call call_;
    Counted& frame_;
  };
  serve_stream(rig, "t.v1.S/Once", [&](Call c) { return std::make_unique<Once>(c, frame); });
  rig.start();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Once", "");
  ASSERT_EQ(o.messages.size(), 1u) << o;
  EXPECT_TRUE(o.messages[0] == frame.data);
  EXPECT_GE(frame.retains, 2);  // the plugin's and gRPC's
  EXPECT_TRUE(eventually([&] { return frame.references == 0; }));
}

TEST(Stream, AThousandAtOnce) {
  constexpr int streams = 1'000, each = 20;
  Rig rig;
  Progress progress;
  serve_stream(rig, "t.v1.S/Watch",
               [&](Call c) { return std::make_unique<Sender>(c, progress, each, 500); });
  rig.start("streams_max = 2000");
  class Count : public Handler {
   public:
    Count(std::atomic<int>& m, std::atomic<int>& d) : messages_(m), dones_(d) {}
    Call call;
    void on_message(Buffer) override {
      ++messages_;
      call.read();
    }
    void on_done(const End& end) override { dones_ += end.code == Code::ok ? 1 : 1'000'000; }
   private:
    std::atomic<int>&messages_, &dones_;
  };
  std::atomic<int> messages{0}, dones{0};
  for (int i = 0; i < streams; ++i) {
    const Strand strand = rig.client.host().strand();
    strand.post([&, strand] {
      auto handler = std::make_unique<Count>(messages, dones);
      auto* h = handler.get();
      h->call = rig.channel.start("t.v1.S/Watch", strand, std::move(handler));
      h->call.write(std::string("go"));
      h->call.half_close();
      h->call.read();
    });
  }
  EXPECT_TRUE(eventually([&] { return dones == streams; })) << dones;
  EXPECT_EQ(messages, streams * each);
  EXPECT_TRUE(eventually([&] { return progress.dones == streams; })) << progress.dones;
}

TEST(Stream, BothEndsCancelledInEveryMomentLeaveNothingBehind) {
  Rig rig;
  Progress progress;
  serve_stream(rig, "t.v1.S/Watch",
               [&](Call c) { return std::make_unique<Sender>(c, progress, 50, 2'000); });
  rig.start();
  constexpr int rounds = 400;
  std::atomic<int> dones{0};
  class Fickle : public Handler {
   public:
    Fickle(std::atomic<int>& d, int after) : dones_(d), left_(after) {}
    Call call;
    void on_message(Buffer) override {
      if (left_-- == 0) return call.cancel();
      call.read();
    }
    void on_done(const End&) override { ++dones_; }
   private:
    std::atomic<int>& dones_;
    int left_;
  };
  for (int i = 0; i < rounds; ++i) {
    const Strand strand = rig.client.host().strand();
    strand.post([&, i, strand] {
      auto handler = std::make_unique<Fickle>(dones, i % 60);
      auto* h = handler.get();
      h->call = rig.channel.start("t.v1.S/Watch", strand, std::move(handler));
      if (i % 7 == 0) return h->call.cancel();
      h->call.write(std::string("go"));
      h->call.half_close();
      h->call.read();
      if (i % 5 == 0) h->call.cancel();
    });
  }
  EXPECT_TRUE(eventually([&] { return dones == rounds; })) << dones;
  rig.server.stop();
  for (const auto& line : rig.server.lines())
    EXPECT_EQ(line.find("did not end"), std::string::npos) << line;
}

TEST(Stream, AClientThatStreamsIsReadOneMessageAtATime) {
  Rig rig;
  class Sum : public Handler {
   public:
    explicit Sum(Call c) : call_(c) {}
    void on_message(Buffer m) override {
      bytes_ += m.size();
      call_.read();
    }
    void on_end_of_messages() override {
      call_.write(std::to_string(bytes_));
      call_.finish({});
    }
   private:
    Call call_;
    size_t bytes_ = 0;
  };
  auto m = stream_method("t.v1.S/Sum");
  m.client_streams = true;
  m.server_streams = false;
  const auto server = rig.serving();
  const Host host = rig.server.host();
  ASSERT_TRUE(server
                  .serve(m,
                         [server, host](Call call) {
                           server.accept(call, host.strand(), std::make_unique<Sum>(call));
                           call.read();
                         })
                  .ok());
  rig.start();
  class Feed : public Handler {
   public:
    explicit Feed(std::promise<std::string>& p) : promise_(p) {}
    Call call;
    void on_writable() override {
      if (++sent_ < 100) return call.write(std::string(1'000, 'x'));
      call.half_close();
      call.read();
    }
    void on_message(Buffer m) override { answer_ = m.view(); }
    void on_done(const End&) override { promise_.set_value(answer_); }
   private:
    std::promise<std::string>& promise_;
    std::string answer_;
    int sent_ = 0;
  };
  std::promise<std::string> promise;
  const Strand strand = rig.client.host().strand();
  strand.post([&] {
    auto handler = std::make_unique<Feed>(promise);
    auto* h = handler.get();
    h->call = rig.channel.start("t.v1.S/Sum", strand, std::move(handler));
    h->call.write(std::string(1'000, 'x'));
  });
  auto future = promise.get_future();
  ASSERT_EQ(future.wait_for(std::chrono::seconds(90)), std::future_status::ready);
  EXPECT_EQ(future.get(), "100000");
}

}  // namespace
}  // namespace davit::host
