// What requests take of a server's memory: whose, how much, and what many that come slowly do to
// the others.
#include "rpc/request_bytes.hpp"

#include "limited.hpp"
#include "rpc/connect/http2_session.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

using Share = RequestBytes::Share;

struct Bytes : Side {
  Bytes() : Side("bytes") {}
  RequestBytes bytes{core, "main", 1'600};
};

TEST(RequestBytes, OneCallerHasHalfAndStrangersTogetherASixteenth) {
  Bytes b;
  Share a1(b.bytes, "a"), a2(b.bytes, "a"), other(b.bytes, "b"), stranger(b.bytes, "");
  EXPECT_TRUE(a1.hold(500).ok());
  EXPECT_FALSE(a2.hold(301).ok());
  EXPECT_TRUE(a2.hold(300).ok());
  EXPECT_TRUE(other.hold(700).ok());
  EXPECT_FALSE(stranger.hold(101).ok());
  EXPECT_TRUE(stranger.hold(100).ok());
  EXPECT_FALSE(other.hold(701).ok()) << "1600 of 1600";
  EXPECT_EQ(b.bytes.size(), 1'600u);
}

TEST(RequestBytes, WhatWasRefusedLeavesWhatWasThere) {
  Bytes b;
  Share a(b.bytes, "a");
  EXPECT_TRUE(a.hold(100).ok());
  const auto refused = a.hold(801);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::resource_exhausted);
  EXPECT_EQ(refused.error().message,
            "no room for a request of 801 bytes: 0 of the 800 bytes for one credential at one "
            "address are taken (requests_bytes_max = 1600); try again later");
  EXPECT_EQ(b.bytes.size(), 100u);
}

TEST(RequestBytes, AMessageCountsUntilItsMethodHasIt) {
  Bytes b;
  {
    Share a(b.bytes, "a");
    EXPECT_TRUE(a.hold(100).ok());
    a.pass(2'000, 10);
    EXPECT_EQ(b.bytes.size(), 2'010u) << "unpacked it is larger, and never refused";
    EXPECT_FALSE(Share(b.bytes, "b").hold(1).ok());
    a.taken();
    EXPECT_EQ(b.bytes.size(), 10u);
  }
  EXPECT_EQ(b.bytes.size(), 0u);
  EXPECT_EQ(b.bytes.callers(), 0u);
}

TEST(RequestBytes, WhoWasRefusedIsNotRemembered) {
  Bytes b;
  EXPECT_FALSE(Share(b.bytes, "a").hold(900).ok());
  EXPECT_EQ(b.bytes.callers(), 0u);
}

// --- a server, and callers that send large requests slowly

constexpr size_t mib = 1u << 20, head_size = 5;

// A unary call of gRPC that announces so much and sends a little.
std::string slow_request(uint32_t stream, size_t announced, size_t sent = 1'000) {
  return begin_call(stream, "t.v1.S/Echo", "agent-secret") +
         Raw::frame(Raw::data, Raw::none, stream, message(announced, sent));
}

bool came(Raw& raw, std::string_view wanted) {
  return raw.until(wanted).find(wanted) != std::string::npos;
}

double metric_of(const Rig& rig, const std::string& name) {
  const std::string text = rig.server.metrics.expose();
  const size_t at = text.find("\n" + name + "{server=\"main\"} ");
  if (at == std::string::npos) return -1;
  return std::stod(text.substr(text.find("} ", at) + 2));
}

TEST(RequestBytesLimit, ManySlowRequestsLeaveRoomForOthersAndOneTooManyIsToldWhy) {
  Limited rig;
  rig.start("requests_bytes_max = 8388608\nrequest_timeout_ms = 60000");
  Raw hostile(rig.address());
  hostile.greet();
  constexpr size_t small = 20'000;
  for (uint32_t i = 1; i < 7; i += 2) hostile.send(slow_request(i, mib - head_size));
  hostile.send(slow_request(7, small - head_size));
  const auto held = [&] { return metric_of(rig, "davit_rpc_request_bytes"); };
  EXPECT_TRUE(eventually([&] { return held() == 3 * mib + small; })) << held();
  Stub stub(rig.address(), "agent-secret");
  Stub::Talk late(stub, "t.v1.S/Echo");
  late.ask(std::string(mib - head_size, 'x'));
  const auto status = late.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(
      status.error_message(),
      "no room for a request of 1048576 bytes: 3165728 of the 4194304 bytes for one credential at "
      "one address are taken (requests_bytes_max = 8388608); try again later");
  EXPECT_EQ(metric_of(rig, "davit_rpc_requests_refused_total"), 1);
  EXPECT_EQ(held(), 3 * mib + small);
  // Who calls from elsewhere is served: each address has half.
  Raw other(rig.address(), "127.0.0.2");
  other.greet();
  constexpr size_t large = 16'000;
  other.send(begin_call(1, "t.v1.S/Echo", "agent-secret") +
             Raw::frame(Raw::data, Raw::end_stream, 1, message(large, large)));
  EXPECT_TRUE(came(other, std::string(large, 'x')));
  // What has begun comes to its end, and then there is room again.
  hostile.send(Raw::frame(Raw::data, Raw::none, 7, std::string(large, 'x')) +
               Raw::frame(Raw::data, Raw::end_stream, 7,
                          std::string(small - head_size - 1'000 - large, 'x')));
  EXPECT_TRUE(came(hostile, std::string(10'000, 'x')));
  EXPECT_TRUE(eventually([&] { return held() == 3 * mib; })) << held();
  rig.expect_well();
}

// Two agents behind one NAT, each with the token of its region.
TEST(RequestBytesLimit, WhoHasAnotherTokenAtTheSameAddressIsServed) {
  Limited rig;
  rig.folder.write("west.token", "west-secret\n");
  rig.start("requests_bytes_max = 4194304\nrequest_timeout_ms = 60000\n" + rig.token("west"));
  Raw hostile(rig.address());
  hostile.greet();
  for (uint32_t i = 1; i < 5; i += 2) hostile.send(slow_request(i, mib - head_size));
  EXPECT_TRUE(eventually([&] { return metric_of(rig, "davit_rpc_request_bytes") == 2 * mib; }));
  const std::string large(mib - head_size, 'x');
  Stub same(rig.address(), "agent-secret"), other(rig.address(), "west-secret");
  Stub::Talk refused(same, "t.v1.S/Echo"), served(other, "t.v1.S/Echo");
  refused.ask(large);
  EXPECT_EQ(refused.finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  served.ask(large);
  EXPECT_EQ(served.read(), large);
}

TEST(RequestBytesLimit, WhatWasAnnouncedIsFreeAgainWhenItDoesNotCome) {
  Limited rig;
  rig.start("requests_bytes_max = 8388608\nrequest_timeout_ms = 5000");
  Raw hostile(rig.address());
  hostile.greet();
  for (uint32_t i = 1; i < 9; i += 2) hostile.send(slow_request(i, mib - head_size));
  EXPECT_TRUE(eventually([&] { return metric_of(rig, "davit_rpc_request_bytes") == 4 * mib; }));
  EXPECT_TRUE(eventually([&] { return metric_of(rig, "davit_rpc_request_bytes") == 0; }));
  rig.expect_well();
}

TEST(RequestBytesLimit, ABodyOfHttp1CountsByItsLength) {
  Limited rig;
  rig.start("requests_bytes_max = 4194304\nrequest_timeout_ms = 60000");
  const auto head = [](size_t length) {
    return "POST /t.v1.S/Echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"
           "connect-protocol-version: 1\r\nauthorization: Bearer agent-secret\r\n"
           "content-length: " +
           std::to_string(length) + "\r\n\r\n";
  };
  Raw first(rig.address()), second(rig.address());
  first.send(head(2 * mib) + "x");
  EXPECT_TRUE(eventually([&] { return metric_of(rig, "davit_rpc_request_bytes") == 2 * mib; }));
  second.send(head(100) + "x");
  EXPECT_TRUE(came(second, "HTTP/1.1 429 "));
  EXPECT_TRUE(came(second, "requests_bytes_max = 4194304"));
}

TEST(RequestBytesLimit, WhoIsNotKnownHoldsNothing) {
  Limited rig;
  rig.start("request_timeout_ms = 60000");
  Raw raw(rig.address());
  raw.greet();
  for (uint32_t i = 1; i < 400; i += 2) {
    raw.send(begin_call(i, "t.v1.S/Echo", "none-of-yours") +
             Raw::frame(Raw::data, Raw::none, i, message(mib, 10'000)));
  }
  const std::string the_last("\1\5\0\0\1\x8f", 6);  // a head that is all, on stream 399
  EXPECT_TRUE(came(raw, the_last));
  rig.expect_well();
  EXPECT_TRUE(eventually([&] { return metric_of(rig, "davit_rpc_request_bytes") == 0; }));
  EXPECT_EQ(metric_of(rig, "davit_rpc_requests_refused_total"), 0);
}

// The answer waits behind others that the peer does not read.
TEST(Http2Session, KeepsNothingOfABodyThatIsAnsweredAlready) {
  std::shared_ptr<HttpStream> stream;
  Http2Session session(
      {}, [&](auto s) { stream = std::move(s); }, [] {});
  session.receive(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, {}) +
                  begin_call(1, "t.v1.S/Echo", "") +
                  Raw::frame(Raw::data, Raw::none, 1, std::string(16'000, 'x')));
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->waiting(), 16'000u);
  stream->send_head({{":status", "200"}}, true);
  EXPECT_EQ(stream->waiting(), 0u);
  for (int i = 0; i < 2; ++i)
    session.receive(Raw::frame(Raw::data, Raw::none, 1, std::string(16'000, 'x')));
  EXPECT_EQ(stream->waiting(), 0u);
  std::string out;
  session.give(out);
  const std::string more("\0\0\4\x8\0\0\0\0\1", 9);  // it may send the rest
  EXPECT_NE(out.find(more), std::string::npos);
}

}  // namespace
}  // namespace davit::host
