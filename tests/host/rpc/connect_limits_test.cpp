// What the server that speaks HTTP by itself takes of callers that are broken or mean no good.
#include "limited.hpp"

namespace davit::host {
namespace {

constexpr std::string_view impatient =
    "request_timeout_ms = 1000\nkeepalive_interval_ms = 1000\nkeepalive_timeout_ms = 300\n";

std::string reset_of(uint32_t stream, char code) {
  return Raw::frame(Raw::reset, Raw::none, stream, std::string(3, '\0') + code);
}
constexpr char no_error = 0, protocol_error = 1, refused_stream = 7, cancel_stream = 8,
               enhance_your_calm = 11;

std::string empty_request(uint32_t stream) {
  return Raw::frame(Raw::data, Raw::end_stream, stream, message(0, 0));
}

bool comes(Raw& raw, std::string_view wanted) {
  return raw.until(wanted).find(wanted) != std::string::npos;
}

// Whether it is among what was read so far.
bool comes_by_now(Raw& raw, std::string_view wanted) {
  return raw.until({}).find(wanted) != std::string::npos;
}

// The answer's head on that stream: HEADERS with END_HEADERS.
std::string head_on(char stream, int flags = Raw::end_headers) {
  return std::string{Raw::headers, static_cast<char>(flags), 0, 0, 0, stream};
}

TEST(ConnectLimits, MoreStreamsThanMayBeAreRefusedAndTheOthersStay) {
  Limited rig;
  rig.start("streams_max = 3");
  Raw raw(rig.address());
  raw.send(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, {}));
  constexpr uint32_t last = 599;
  for (uint32_t i = 1; i <= last; i += 2)
    raw.send(begin_call(i, "t.v1.S/Stay", "agent-secret") + empty_request(i));
  EXPECT_TRUE(comes(raw, reset_of(last, refused_stream)));
  EXPECT_TRUE(eventually([&] { return rig.open == 3; })) << rig.open;
  rig.expect_well();
  EXPECT_EQ(rig.dones, 0);
}

TEST(ConnectLimits, HeadersThatAreTooLargeEndTheirStreamOnly) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(
      begin_call(1, "t.v1.S/Echo", "agent-secret", Raw::field("bomb", std::string(9'000, 'b'))));
  EXPECT_TRUE(comes(raw, reset_of(1, enhance_your_calm)));
  // A field of 3 kB that is remembered, and named again with a byte each: 40 MB.
  const std::string remembered = '\x40' + Raw::field("bomb", std::string(3'000, 'b')).substr(1);
  raw.send(begin_call(3, "t.v1.S/Echo", "agent-secret", remembered + std::string(13'000, '\xbe')));
  EXPECT_TRUE(comes(raw, reset_of(3, enhance_your_calm)));
  raw.send(begin_call(5, "t.v1.S/Echo", "agent-secret") + empty_request(5));
  EXPECT_TRUE(comes(raw, head_on(5))) << "the connection goes on";
}

// As Go's client does: an error of the protocol would cost it the connection.
TEST(ConnectLimits, ABodyThatStopsOnceItIsAnsweredIsNoErrorOfTheProtocol) {
  constexpr int whole_answer = Raw::end_stream | Raw::end_headers;
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(begin_call(1, "t.v1.S/IsNotServed", "agent-secret", Raw::field("content-length", "28")));
  EXPECT_TRUE(comes(raw, head_on(1, whole_answer)));
  raw.send(Raw::frame(Raw::data, Raw::none, 1, "some"));
  raw.send(Raw::frame(Raw::data, Raw::end_stream, 1, {}));
  raw.send(begin_call(3, "t.v1.S/Echo", "agent-secret") + empty_request(3));
  EXPECT_TRUE(comes(raw, head_on(3))) << "the connection goes on";
  EXPECT_FALSE(comes_by_now(raw, reset_of(1, protocol_error)));
  EXPECT_TRUE(comes_by_now(raw, reset_of(1, no_error)));
}

TEST(ConnectLimits, ABodyThatIsShorterThanItsHeadSaysIsAnErrorOfTheProtocol) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(begin_call(1, "t.v1.S/Echo", "agent-secret", Raw::field("content-length", "28")));
  raw.send(Raw::frame(Raw::data, Raw::end_stream, 1, "some"));
  EXPECT_TRUE(comes(raw, reset_of(1, protocol_error)));
  rig.expect_well();
}

TEST(ConnectLimits, HowLargeHeadersMayBeIsASetting) {
  Limited rig;
  rig.start("header_bytes_max = 2048");
  Raw raw(rig.address());
  raw.greet();
  raw.send(
      begin_call(1, "t.v1.S/Echo", "agent-secret", Raw::field("bomb", std::string(3'000, 'b'))));
  EXPECT_TRUE(comes(raw, reset_of(1, enhance_your_calm)));
  rig.expect_well();
}

TEST(ConnectLimits, HeadersWithoutAnEndCostNoMemory) {
  Limited rig;
  rig.start();
  rig.expect_well();
  const size_t before = resident_bytes();
  for (int connection = 0; connection < 20; ++connection) {
    Raw raw(rig.address());
    raw.greet();
    bool going =
        raw.send(Raw::frame(Raw::headers, Raw::none, 1, Raw::call("t.v1.S/Echo", "agent-secret")));
    for (int i = 0; i < 1'000 && going; ++i) {
      going = raw.send(Raw::frame(Raw::continuation, Raw::none, 1,
                                  Raw::field("h" + std::to_string(i), std::string(10'000, 'b'))));
    }
    EXPECT_FALSE(going) << "the connection is closed";
  }
  if (memory_can_be_measured) {
    EXPECT_LT(resident_bytes(), before + (16u << 20));
  }
  rig.expect_well();
}

TEST(ConnectLimits, AHeadOfHttp1ThatIsTooLargeIsRefused) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.send("POST /t.v1.S/Echo HTTP/1.1\r\nhost: a\r\nbomb: " + std::string(9'000, 'b') +
           "\r\n\r\n");
  EXPECT_TRUE(comes(raw, "HTTP/1.1 431 "));
  EXPECT_TRUE(raw.is_closed());
}

TEST(ConnectLimits, AHeadOfManyFramesIsTakenIfTheSettingAllowsItsSize) {
  Limited rig;
  rig.start("header_bytes_max = 1048576");
  Raw raw(rig.address());
  raw.greet();
  raw.send(Raw::frame(Raw::headers, Raw::none, 1, Raw::call("t.v1.S/Echo", "agent-secret")));
  constexpr int frames = 40;
  for (int i = 1; i <= frames; ++i) {
    raw.send(Raw::frame(Raw::continuation, i == frames ? Raw::end_headers : Raw::none, 1,
                        Raw::field("h" + std::to_string(i), std::string(16'000, 'b'))));
  }
  raw.send(empty_request(1));
  EXPECT_TRUE(comes(raw, head_on(1)));
}

// Beast throws for such a header.
TEST(ConnectLimits, AHeaderOfHttp1OfMoreThan64KiBIsRefusedWhateverTheSetting) {
  Limited rig;
  rig.start("header_bytes_max = 1048576");
  Raw raw(rig.address());
  raw.send("POST /t.v1.S/Echo HTTP/1.1\r\nhost: a\r\nbomb: " + std::string(70'000, 'b') +
           "\r\n\r\n");
  EXPECT_TRUE(comes(raw, "HTTP/1.1 431 "));
  EXPECT_TRUE(raw.is_closed());
  rig.expect_well();
}

// Each asks for an answer, and none is read.
TEST(ConnectLimits, AFloodOfQuestionsWhoseAnswersAreNotReadIsCutOff) {
  for (const auto& [question, size] : {std::pair{Raw::settings, 0}, std::pair{Raw::ping, 8}}) {
    Limited rig;
    rig.start(std::string(impatient));
    Raw raw(rig.address());
    raw.greet();
    std::string flood;
    for (int i = 0; i < 10'000; ++i)
      flood += Raw::frame(question, Raw::none, 0, std::string(static_cast<size_t>(size), 'p'));
    bool going = true;
    for (int i = 0; i < 3'000 && going; ++i) {  // hundreds of MiB
      going = raw.send_deaf(flood);
      if (i % 100 == 0) rig.expect_well();
    }
    EXPECT_FALSE(going) << "the connection is closed";
    rig.expect_well();
  }
}

TEST(ConnectLimits, WhoBeginsAndResetsWithoutAnEndIsCutOff) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  bool going = true;
  uint32_t stream = 1;
  for (; stream < 100'000 && going; stream += 2)
    going = raw.send(begin_call(stream, "t.v1.S/Stay", "agent-secret") + reset_of(stream, 8));
  EXPECT_FALSE(going);
  EXPECT_TRUE(eventually([&] { return rig.open == 0; })) << rig.open;
  rig.expect_well();
}

// Slow-loris: a little now and then, so that it never looks dead.
TEST(ConnectLimits, AHeadThatComesByTheByteIsNotWaitedFor) {
  Limited rig;
  rig.start(std::string(impatient));
  Raw raw(rig.address());
  bool going = raw.send("POST /t.v1.S/Echo HTTP/1.1\r\nhost: a\r\nslow: ");
  for (int i = 0; i < 2'000 && going; ++i) {
    going = raw.send("a");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(going);
  rig.expect_well();
}

TEST(ConnectLimits, ABodyThatComesByTheByteIsNotWaitedFor) {
  Limited rig;
  rig.start(std::string(impatient));
  Raw raw(rig.address());
  raw.send(
      "POST /t.v1.S/Echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"
      "connect-protocol-version: 1\r\nauthorization: Bearer agent-secret\r\n"
      "content-length: 100000\r\n\r\n");
  for (int i = 0; i < 100; ++i) {
    if (!raw.send("x")) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(comes(raw, "no request came within 1000 ms"));
  rig.expect_well();
}

// A method that always has more to say.
struct Pouring : Limited {
  static constexpr size_t once = 64u << 10;
  std::atomic<size_t> poured{0}, size{once};
  class Pour : public davit::rpc::Handler {
   public:
    Pour(davit::rpc::Call c, Pouring& p) : call_(c), pouring_(p) { ++pouring_.open; }
    void on_message(Buffer) override { pour(); }
    void on_writable() override { pour(); }
    void on_cancel() override { call_.finish({Code::cancelled, "gone"}); }
    void on_done(const davit::rpc::End&) override {
      --pouring_.open;
      ++pouring_.dones;
    }

   private:
    void pour() {
      pouring_.poured += pouring_.size;
      call_.write(std::string(pouring_.size, 'x'));
    }
    davit::rpc::Call call_;
    Pouring& pouring_;
  };
  Pouring() {
    davit::rpc::Method m;
    m.path = "t.v1.S/Pour";
    m.role = "agent";
    m.server_streams = true;
    const auto s = serving();
    const Host host = server.host();
    EXPECT_TRUE(s.serve(m, [this, s, host](davit::rpc::Call c) {
                   s.accept(c, host.strand(), std::make_unique<Pour>(c, *this));
                   c.read();
                 }).ok());
  }
  ~Pouring() { server.stop(); }
  // Until no more is written.
  void rest() {
    size_t before = 0;
    for (int quiet = 0; quiet < 25;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const size_t now = poured;
      quiet = now == before ? quiet + 1 : 0;
      before = now;
    }
  }
};

TEST(ConnectLimits, WhoGivesNoRoomStopsItsStreamAndNothingElse) {
  Pouring rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(begin_call(1, "t.v1.S/Pour", "agent-secret") + empty_request(1));
  EXPECT_TRUE(eventually([&] { return rig.poured > 0; }));
  rig.rest();
  EXPECT_LE(rig.poured, 4 * Pouring::once);  // a window of 64 KiB is all that it gave
  rig.expect_well();
  EXPECT_EQ(rig.open, 1) << "it may take its time";
}

TEST(ConnectLimits, SmallMessagesShareFramesAndNoMoreThanSoManyWait) {
  Pouring rig;
  rig.size = 1'000;
  rig.start();
  Raw raw(rig.address());
  const std::string no_window = std::string("\0\4\0\0\0\0", 6);
  raw.send(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, no_window) +
           begin_call(1, "t.v1.S/Pour", "agent-secret") + empty_request(1));
  EXPECT_TRUE(eventually([&] { return rig.poured > 16u << 10; }));
  rig.rest();
  EXPECT_LE(rig.poured, 33u << 10) << "what waits for a peer that gives no room";
  constexpr auto window_update = static_cast<Raw::Type>(8);
  raw.send(Raw::frame(window_update, Raw::none, 1, std::string("\0\0\x80\0", 4)));
  EXPECT_TRUE(comes(raw, std::string("\0\x40\0\0\0\0\0\0\1", 9))) << "16 KiB in a frame";
  rig.expect_well();
}

// With much that waits, with little, and with the one answer of a call that its method has ended.
TEST(ConnectLimits, WhoGivesNoRoomKeepsNoCallOpenAfterItsDeadline) {
  for (const std::string path : {"t.v1.S/Pour", "t.v1.S/Stay", "t.v1.S/Echo"}) {
    Pouring rig;
    rig.start("keepalive_interval_ms = 600000\n");  // the connection is not what ends the call
    Raw raw(rig.address());
    const std::string no_window = std::string("\0\4\0\0\0\0", 6);
    raw.send(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, no_window) +
             begin_call(1, path, "agent-secret", Raw::field("grpc-timeout", "1S")) +
             empty_request(1));
    EXPECT_TRUE(comes(raw, head_on(1)));
    EXPECT_TRUE(eventually([&] {
      return rig.server.metrics.expose().find("davit_rpc_calls_open{method=\"" + path +
                                              "\",server=\"main\"} 0") != std::string::npos;
    })) << path;
    EXPECT_EQ(rig.dones, path == "t.v1.S/Echo" ? 0 : 1) << path;
    EXPECT_TRUE(comes(raw, reset_of(1, cancel_stream))) << path;
    raw.send(begin_call(3, "t.v1.S/Echo", "agent-secret") + empty_request(3));
    EXPECT_TRUE(comes(raw, head_on(3))) << "the connection goes on";
  }
}

TEST(ConnectLimits, WhoDoesNotTakeTheEndOfARevokedCallLosesTheConnection) {
  Pouring rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(begin_call(1, "t.v1.S/Pour", "agent-secret") + empty_request(1));
  EXPECT_TRUE(eventually([&] { return rig.poured > 0; }));
  rig.rest();
  std::filesystem::remove(rig.folder.path("agent.token"));
  EXPECT_TRUE(raw.is_closed());
  EXPECT_TRUE(eventually([&] { return rig.dones == 1; }));
}

TEST(ConnectLimits, WhoNeverReadsIsStoppedAndThenCutOff) {
  Pouring rig;
  rig.start(std::string(impatient));
  Raw raw(rig.address());
  const std::string most("\x7f\xff\xff\xff", 4);
  constexpr auto window_update = static_cast<Raw::Type>(8);
  raw.send(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, std::string("\0\4", 2) + most) +
           Raw::frame(window_update, Raw::none, 0, std::string("\x7f\xfe\xff\xff", 4)) +
           begin_call(1, "t.v1.S/Pour", "agent-secret") + empty_request(1));
  EXPECT_TRUE(eventually([&] { return rig.poured > 0; }));
  EXPECT_TRUE(eventually([&] { return rig.dones == 1; }));
  EXPECT_LT(rig.poured, 32u << 20) << "what the sockets hold, and little more";
  rig.expect_well();
}

}  // namespace
}  // namespace davit::host
