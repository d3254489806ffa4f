// A call that gets no further, as each protocol's callers see it.
#include <gtest/gtest.h>

#include "rpc/connect/code.hpp"
#include "rpc/connect/end_json.hpp"
#include "rpc/connect/envelope.hpp"
#include "rpc/connect/request_head.hpp"

namespace davit::host {
namespace {

const End busy{Code::unavailable, "busy", {{"retry-after-ms", "7"}, {"grpc-status", "0"}}};

HttpAnswer refused(Wire wire, const char* type, const End& end = busy) {
  Terms terms;
  terms.wire = wire;
  terms.content_type = type;
  return refusal(terms, end);
}

TEST(Refusal, OfAConnectUnaryCallIsAnHttpError) {
  const HttpAnswer answer = refused(Wire::connect_unary, "application/proto");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers,
            (Pairs{{"content-type", "application/json"}, {"trailer-retry-after-ms", "7"}}));
  EXPECT_EQ(answer.body, R"({"code":"unavailable","message":"busy"})");
}

TEST(Refusal, OfAConnectUnaryCallHasTheStatusOfItsCode) {
  for (int code = 1; code <= 16; ++code) {
    const End end{static_cast<Code>(code), "m"};
    const HttpAnswer answer = refused(Wire::connect_unary, "application/json", end);
    EXPECT_EQ(answer.status, http_status(end.code));
    EXPECT_EQ(read_error_json(answer.status, answer.body).code, end.code);
  }
}

TEST(Refusal, OfAConnectStreamIsItsLastMessage) {
  const HttpAnswer answer = refused(Wire::connect_stream, "application/connect+json");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers, (Pairs{{"content-type", "application/connect+json"}}));
  EnvelopeReader reader(flag::end_of_stream, 1'000);
  reader.feed(answer.body);
  const auto message = reader.next();
  ASSERT_TRUE(message && message->ok());
  EXPECT_EQ((*message)->flags, flag::end_of_stream);
  EXPECT_EQ((*message)->message, end_of_stream_json(busy));
  EXPECT_TRUE(reader.at_a_boundary());
}

TEST(Refusal, OfAGrpcCallIsTrailersOnly) {
  for (const auto& [wire, type] : {std::pair{Wire::grpc, "application/grpc+json"},
                                   std::pair{Wire::grpc_web, "application/grpc-web"}}) {
    const HttpAnswer answer = refused(wire, type);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers, (Pairs{{"content-type", type},
                                     {"grpc-status", "14"},
                                     {"grpc-message", "busy"},
                                     {"retry-after-ms", "7"}}));
    EXPECT_EQ(answer.body, "");
  }
}

}  // namespace
}  // namespace davit::host
