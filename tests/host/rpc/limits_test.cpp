// What a server takes of a caller that is slow, greedy or broken: always bounded, with a code, and
// the others notice nothing.
#include "limited.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

TEST(Limits, AConnectionThatSaysNothingIsClosed) {
  Limited rig;
  // A Unix socket has no handshake: whoever does not answer a ping is gone.
  Side local("local");
  local.configure("[rpc.server.operator]\nlisten = \"unix:" + rig.folder.path("op.sock") +
                  "\"\nkeepalive_interval_ms = 1000\nkeepalive_timeout_ms = 300\n"
                  "request_timeout_ms = 1000\n" +
                  transport_line());
  local.listen();
  rig.start("request_timeout_ms = 1000");
  for (const std::string& address : {rig.address(), "unix:" + rig.folder.path("op.sock")}) {
    for (const std::string& beginning : {std::string(), Raw::preface().substr(0, 10)}) {
      Raw raw(address);
      raw.send(beginning);
      EXPECT_TRUE(raw.is_closed()) << address << " after " << beginning.size() << " bytes";
    }
  }
  Raw raw(rig.address());
  raw.send(Raw::preface());
  EXPECT_TRUE(raw.is_closed()) << "no settings";
  rig.expect_well();
}

TEST(Limits, ACallWhoseRequestDoesNotComeIsEnded) {
  Limited rig;
  rig.start("request_timeout_ms = 1000");
  Stub stub(rig.address(), "agent-secret");
  for (const char* path : {"t.v1.S/Echo", "t.v1.S/Stay", "grpc.health.v1.Health/Check",
                           "grpc.health.v1.Health/Watch"}) {
    Stub::Talk talk(stub, path);
    const auto status = talk.finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << path;
    EXPECT_EQ(status.error_message(), "no request came within 1000 ms") << path;
  }
  // Half of it is none.
  Raw raw(rig.address());
  raw.greet();
  raw.send(begin_call(1, "t.v1.S/Echo", "agent-secret") +
           Raw::frame(Raw::data, Raw::none, 1, message(1'000, 10)));
  const std::string_view end("\x01\x05\0\0\0\x01", 6);  // headers that are the last of stream 1
  EXPECT_NE(raw.until(end).find(end), std::string::npos);
  // A stream whose request has come may be quiet for as long as it likes.
  std::optional<Stub::Talk> stays;
  EXPECT_TRUE(eventually([&] {  // unless a busy machine took a second between its head and this
    stays.emplace(stub, "t.v1.S/Stay");
    stays->ask("go");
    return stays->read() == "hello";
  }));
  Stub::Talk late(stub, "t.v1.S/Echo");
  EXPECT_EQ(late.finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(rig.open, 1);
}

TEST(Limits, AConnectionHasSoManyStreamsAndTheNextOneWaits) {
  Limited rig;
  rig.start("streams_max = 3");
  Stub stub(rig.address(), "agent-secret");
  std::vector<std::unique_ptr<Stub::Talk>> talks;
  for (int i = 0; i < 3; ++i) {
    talks.push_back(std::make_unique<Stub::Talk>(stub, "t.v1.S/Stay"));
    talks.back()->ask("go");
    EXPECT_EQ(talks.back()->read(), "hello");
  }
  auto fourth = std::async(std::launch::async, [&] {
    Stub::Talk talk(stub, "t.v1.S/Stay");
    talk.ask("go");
    return talk.read();
  });
  rig.expect_well();  // another connection
  EXPECT_EQ(rig.open, 3);
  talks.pop_back();
  EXPECT_EQ(fourth.get(), "hello");
}

TEST(Limits, SoManyCallsAreOpenInAllAndOfOneCredentialAtOneAddress) {
  for (const auto& [settings, words] :
       {std::pair{"calls_max = 9\ncalls_per_address_max = 3",
                  "more than 3 calls at once of one credential at one address "
                  "(calls_per_address_max)"},
        std::pair{"calls_max = 3\ncalls_per_address_max = 3",
                  "more than 3 calls at once (calls_max)"}}) {
    Limited rig;
    rig.start(settings);
    std::vector<std::unique_ptr<Stub>> stubs;  // a connection each
    std::vector<std::unique_ptr<Stub::Talk>> talks;
    for (int i = 0; i < 3; ++i) {
      stubs.push_back(std::make_unique<Stub>(rig.address(), "agent-secret"));
      talks.push_back(std::make_unique<Stub::Talk>(*stubs.back(), "t.v1.S/Stay"));
      talks.back()->ask("go");
      EXPECT_EQ(talks.back()->read(), "hello");
    }
    Stub stub(rig.address(), "agent-secret");
    const auto refused = stub.unary("t.v1.S/Echo", "x").status;
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(refused.error_message(), words);
    EXPECT_TRUE(stub.unary("grpc.health.v1.Health/Check", "").status.ok()) << "asks for no token";
    talks.pop_back();
    EXPECT_TRUE(eventually([&] { return stub.unary("t.v1.S/Echo", "x").status.ok(); }));
  }
}

// Two agents behind one NAT, each with the token of its region.
TEST(Limits, CallsOfAnotherTokenAtTheSameAddressAreNotCountedTogether) {
  Limited rig;
  rig.folder.write("west.token", "west-secret\n");
  rig.start("calls_max = 9\ncalls_per_address_max = 3\n" + rig.token("west"));
  Stub hostile(rig.address(), "agent-secret"), other(rig.address(), "west-secret");
  std::vector<std::unique_ptr<Stub::Talk>> talks;
  for (int i = 0; i < 3; ++i) {
    talks.push_back(std::make_unique<Stub::Talk>(hostile, "t.v1.S/Stay"));
    talks.back()->ask("go");
    EXPECT_EQ(talks.back()->read(), "hello");
  }
  EXPECT_EQ(hostile.unary("t.v1.S/Echo", "x").status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(other.unary("t.v1.S/Echo", "x").status.ok());
}

TEST(GrpcLimits, ACallerThatDoesNotAcknowledgeTheLimitIsHeldToItAllTheSame) {
  Limited rig;
  rig.start("streams_max = 3");
  Raw raw(rig.address());
  raw.send(Raw::preface() + Raw::frame(Raw::settings, Raw::none, 0, {}));
  for (uint32_t i = 0; i < 300; ++i) {
    raw.send(begin_call(2 * i + 1, "t.v1.S/Stay", "agent-secret") +
             Raw::frame(Raw::data, Raw::end_stream, 2 * i + 1, message(0, 0)));
  }
  EXPECT_TRUE(raw.is_closed());
  EXPECT_TRUE(eventually([&] { return rig.open == 0; })) << rig.open;
  bool logged = false;
  for (const auto& line : rig.server.lines())
    logged |= line.find("more than 3 calls at once on one connection") != std::string::npos;
  EXPECT_TRUE(logged);
  rig.expect_well();
}

TEST(GrpcLimits, HeadersThatAreTooLargeAreRefused) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  raw.send(
      begin_call(1, "t.v1.S/Echo", "agent-secret", Raw::field("bomb", std::string(9'000, 'b'))));
  const std::string refusal = "metadata size exceeds limit";
  const std::string got = raw.until(refusal);
  EXPECT_NE(got.find(refusal), std::string::npos) << testing::PrintToString(got);
  rig.expect_well();
}

TEST(Limits, ARequestThatIsTooLargeIsRefusedWithTheMethodsLimit) {
  Limited rig;
  rig.serve_echo("t.v1.S/Small", 1'000);
  rig.start();
  Stub stub(rig.address(), "agent-secret");
  EXPECT_TRUE(stub.unary("t.v1.S/Small", std::string(1'000, 'x')).status.ok());
  EXPECT_EQ(stub.unary("t.v1.S/Small", std::string(4'000'000, 'x')).status.error_message(),
            "request of 4000000 bytes is larger than the limit of 1000 bytes of t.v1.S/Small");
  // Far more than any method takes is not even read: with gRPC in its words.
  const auto far = stub.unary("t.v1.S/Echo", std::string(50'000'000, 'x')).status;
  EXPECT_EQ(far.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(far.error_message().find("larger than"), std::string::npos) << far.error_message();
  rig.expect_well();
}

TEST(Limits, HeadersWithoutAnEndAreNotTaken) {
  Limited rig;
  rig.start();
  Raw raw(rig.address());
  raw.greet();
  bool going =
      raw.send(Raw::frame(Raw::headers, Raw::none, 1, Raw::call("t.v1.S/Echo", "agent-secret")));
  constexpr int many = 10'000;  // 100 MB
  for (int i = 0; i < many && going; ++i) {
    going = raw.send(Raw::frame(Raw::continuation, Raw::none, 1,
                                Raw::field("h" + std::to_string(i), std::string(10'000, 'b'))));
  }
  EXPECT_FALSE(going) << "the connection is closed";
  rig.expect_well();
}

// Begins calls and resets them at once, as fast as it can, for as long as it is let.
TEST(Limits, ResettingWhatOneBeginsDoesNotGrowTheServer) {
  for (const std::string token : {"agent-secret", ""}) {
    Limited rig;
    rig.start("streams_max = 100");
    const size_t before = resident_bytes();
    Raw raw(rig.address());
    raw.greet();
    bool going = true;
    constexpr uint32_t resets = 50'000;
    for (uint32_t i = 0; i < resets && going; ++i) {
      const uint32_t stream = 2 * i + 1;
      going = raw.send(begin_call(stream, "t.v1.S/Stay", token) +
                       Raw::frame(Raw::reset, Raw::none, stream, {"\0\0\0\x08", 4}));
    }
    EXPECT_TRUE(eventually([&] { return rig.open == 0; })) << rig.open;
    // gRPC works off what has come first; on a slow machine another's connection may be too late by
    // then, and is made again.
    Outcome other;
    EXPECT_TRUE(eventually([&] {
      other = call(rig.client, rig.channel, "t.v1.S/Echo", "still here");
      return other.code == Code::ok;
    })) << other;
    // What it sent until then is worth some tens of MiB; without an end to it, gRPC queues it all.
    const size_t after = resident_bytes();
    if (memory_can_be_measured) {
      EXPECT_LT(after, before + (300u << 20));
    }
  }
}

}  // namespace
}  // namespace davit::host
