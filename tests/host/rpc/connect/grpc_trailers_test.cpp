#include <gtest/gtest.h>

#include "rpc/connect/request_head.hpp"

namespace davit::host {
namespace {

TEST(GrpcTrailers, SayStatusMessageAndTheEndsOwn) {
  EXPECT_EQ(grpc_trailers({}), (Pairs{{"grpc-status", "0"}}));
  EXPECT_EQ(
      grpc_trailers({Code::unavailable, "50% \xe2\x82\xac", {{"retry-after-ms", "7"}}}),
      (Pairs{{"grpc-status", "14"}, {"grpc-message", "50%25 %E2%82%AC"}, {"retry-after-ms", "7"}}));
}

TEST(GrpcTrailers, NoTrailerOfACallReplacesItsStatus) {
  EXPECT_EQ(grpc_trailers({Code::aborted, "", {{"grpc-status", "0"}, {"grpc-message", "fine"}}}),
            (Pairs{{"grpc-status", "10"}}));
}

TEST(GrpcTrailers, ANumberThatIsNoCodeIsUnknown) {
  for (const int code : {-1, 17, INT32_MAX}) {
    EXPECT_EQ(grpc_trailers({static_cast<Code>(code), ""}), (Pairs{{"grpc-status", "2"}}));
  }
}

TEST(GrpcTrailers, AMessageIsCutToWhatAHeaderTakes) {
  std::string text(2'047, 'x');
  text += "\xe2\x82\xac and more";
  const Pairs trailers = grpc_trailers({Code::internal, text});
  EXPECT_EQ(trailers.at(1).second, std::string(2'047, 'x')) << "not within a character";
}

TEST(WebTrailers, AreOneLineEach) {
  EXPECT_EQ(web_trailers({}), "grpc-status: 0\r\n");
  EXPECT_EQ(web_trailers({Code::not_found, "a\r\ngrpc-status: 0", {{"a", "b"}, {"c", "\r\nd: e"}}}),
            "grpc-status: 5\r\ngrpc-message: a%0D%0Agrpc-status: 0\r\na: b\r\n");
}

TEST(ReadGrpcTrailers, GivesBackWhatWasSent) {
  for (int code = 0; code <= 16; ++code) {
    const End end{static_cast<Code>(code), " 50%\n\xe2\x82\xac ", {{"a", "1"}, {"b-bin", "\xff,"}}};
    const End back = read_grpc_trailers(grpc_trailers(end));
    EXPECT_EQ(back.code, end.code);
    EXPECT_EQ(back.message, end.message);
    EXPECT_EQ(back.trailers, end.trailers);
  }
}

TEST(ReadGrpcTrailers, WithoutAStatusItIsUnknown) {
  const End nothing = read_grpc_trailers({});
  EXPECT_EQ(nothing.code, Code::unknown);
  EXPECT_EQ(nothing.message, "the call ended without grpc-status");
  const End half = read_grpc_trailers({{"grpc-message", "only%20this"}, {"a", "1"}});
  EXPECT_EQ(half.code, Code::unknown);
  EXPECT_EQ(half.message, "only this");
  EXPECT_EQ(half.trailers, (Pairs{{"a", "1"}}));
}

TEST(ReadGrpcTrailers, AStatusThatIsNoCodeIsUnknown) {
  for (const char* status : {"", "-1", "17", "00", "05", "0x5", "5 ", " 5", "OK", "99999999999999",
                             "1.0", "+5", "0,0"}) {
    const End end = read_grpc_trailers({{"grpc-status", status}});
    EXPECT_EQ(end.code, Code::unknown) << status;
    EXPECT_EQ(end.message, "grpc-status is not a code") << status;
  }
  EXPECT_EQ(read_grpc_trailers({{"grpc-status", "0"}, {"grpc-status", "0"}}).code, Code::unknown)
      << "stated twice";
}

TEST(ReadGrpcTrailers, AMalformedMessageIsKept) {
  EXPECT_EQ(read_grpc_trailers({{"grpc-status", "5"}, {"grpc-message", "%zz%4"}}).message, "%zz%4");
}

}  // namespace
}  // namespace davit::host
