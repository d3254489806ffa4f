// Requests that are no good, on the wire, and what the server that speaks HTTP by itself says to
// each; the others notice nothing.
#include "limited.hpp"
#include "rpc/connect/envelope.hpp"
#include "rpc/connect/gzip.hpp"

namespace davit::host {
namespace {

struct Bad {
  const char* what;
  std::string line = "POST /t.v1.S/Echo";
  std::string headers = "content-type: application/proto\r\n";
  std::string body;
  const char* status = "200";
  const char* text;
};

std::string enveloped(uint8_t flags, const std::string& message, int64_t more = 0) {
  const auto head = envelope_head(flags, static_cast<uint32_t>(message.size() + more));
  return std::string(head.data(), head.size()) + message;
}

const std::string stay = "POST /t.v1.S/Stay";
const std::string stream = "content-type: application/connect+proto\r\n";
const std::string proto = "content-type: application/proto\r\n";

std::vector<Bad> bad() {
  const std::string bomb = gzip(std::string(100u << 20, '\0'));
  return {
      {"another method of HTTP", "GET /t.v1.S/Echo", proto, "", "405", "allow: POST"},
      {"a path that is not served", "POST /t.v1.S/None", proto, "", "404",
       R"({"code":"unimplemented","message":"method t.v1.S/None is not served here"})"},
      {"no path", "POST /", proto, "", "404", "is not served here"},
      {"a form", stay.substr(0, 5) + "/t.v1.S/Echo", "content-type: text/plain\r\n", "", "415",
       "accept-post: "},
      {"a stream's type for one answer", "POST /t.v1.S/Echo", stream, "", "415", "accept-post: "},
      {"one answer's type for a stream", stay, proto, "", "415", "accept-post: "},
      {"gRPC over HTTP/1.1", stay, "content-type: application/grpc\r\n", "", "505", ""},
      {"another version", "POST /t.v1.S/Echo", proto + "connect-protocol-version: 2\r\n", "", "400",
       "connect-protocol-version"},
      {"a time-out that is none", "POST /t.v1.S/Echo", proto + "connect-timeout-ms: soon\r\n", "",
       "400", "is not a number of at most ten digits"},
      {"another encoding", "POST /t.v1.S/Echo", proto + "content-encoding: br\r\n", "", "501",
       "is not supported here; gzip and identity are"},
      {"no gzip", "POST /t.v1.S/Echo", proto + "content-encoding: gzip\r\n", "none", "400", "gzip"},
      {"a bomb", "POST /t.v1.S/Echo", proto + "content-encoding: gzip\r\n", bomb, "429",
       "request of more than 4194304 uncompressed bytes is larger than the limit of 4194304 bytes "
       "of t.v1.S/Echo"},
      {"a bomb in a stream", stay, stream + "connect-content-encoding: gzip\r\n",
       enveloped(flag::compressed, bomb), "200", "request of more than 4194304 uncompressed bytes"},
      {"flags that nobody knows", stay, stream, enveloped(0x40, "a"), "200",
       "flags that are not known here: 64"},
      {"compressed without saying so", stay, stream, enveloped(flag::compressed, gzip("a")), "200",
       "a compressed message without an encoding"},
      {"a length beyond the end", stay, stream, enveloped(0, "hello", 3), "200",
       "the request ends in the middle of a message"},
      {"a length before the end", stay, stream, enveloped(0, "hello", -2), "200",
       "the request ends in the middle of a message"},
      {"trailing bytes", stay, stream, enveloped(0, "hello") + "abc", "200",
       "the request ends in the middle of a message"},
      {"a second message", stay, stream, enveloped(0, "a") + enveloped(0, "b"), "200",
       "more than one request message"},
      {"no message", stay, stream, "", "200", "the request message is missing"},
      {"an end of its own", stay, stream, enveloped(flag::end_of_stream, "{}"), "200",
       "a request has no end-of-stream message"},
      {"a message that is too large", stay, stream, enveloped(0, std::string(5u << 20, 'x')), "200",
       "request of 5242880 bytes is larger than the limit of 4194304 bytes of t.v1.S/Stay"},
      {"no token", "POST /t.v1.S/Echo", proto + "authorization: Bearer guessed\r\n", "", "401",
       "invalid Authorization header"},
  };
}

TEST(ConnectBadRequests, AreSaidToBeWrongAndHarmNobody) {
  Limited rig;
  rig.start("request_timeout_ms = 5000");
  for (const Bad& b : bad()) {
    Raw raw(rig.address());
    raw.send(b.line + " HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" + b.headers +
             "authorization: Bearer agent-secret\r\ncontent-length: " +
             std::to_string(b.body.size()) + "\r\n\r\n" + b.body);
    const std::string answer = raw.until(std::string_view("nothing\0of this", 15));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::string(b.status) + " "))
        << b.what << ":\n"
        << answer.substr(0, 1'000);
    EXPECT_NE(answer.find(b.text), std::string::npos) << b.what << ":\n" << answer.substr(0, 1'000);
  }
  EXPECT_TRUE(eventually([&] { return rig.open == 0; })) << rig.open;
  rig.expect_well();
}

}  // namespace
}  // namespace davit::host
