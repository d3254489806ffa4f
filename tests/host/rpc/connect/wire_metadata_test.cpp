#include "rpc/connect/wire_metadata.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(WireMetadata, LeavesOutNamesThatAreNone) {
  for (const char* name :
       {"", "Upper", "a b", ":status", "a:b", "a\r\n", "\xc3\xa4", "a/b", "a,b", "a\"", "a+b"}) {
    EXPECT_EQ(metadata_to_wire({{name, "1"}}), Pairs{}) << name;
  }
  const Pairs good = {{"a", "1"}, {"retry-after-ms", "1"}, {"x_y.z-9", "1"}};
  EXPECT_EQ(metadata_to_wire(good), good);
}

TEST(WireMetadata, LeavesOutWhatBelongsToHttpAndTheProtocols) {
  for (const char* name :
       {"connection", "content-length", "content-type", "content-encoding", "host", "keep-alive",
        "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection", "grpc-status",
        "grpc-message", "grpc-anything", "connect-timeout-ms", "grpc-status-details-bin"}) {
    EXPECT_EQ(metadata_to_wire({{name, "1"}}), Pairs{}) << name;
  }
}

TEST(WireMetadata, LeavesOutValuesThatWouldBreakAHeader) {
  for (const char* value : {"a\nb", "a\r\nb: c", "\t", "\x7f", "\xc3\xa4", "\x01"}) {
    EXPECT_EQ(metadata_to_wire({{"a", value}}), Pairs{}) << value;
  }
  EXPECT_EQ(metadata_to_wire({{"a", std::string(1, '\0')}}), Pairs{});
  EXPECT_EQ(metadata_to_wire({{"a", "  x  y "}, {"b", ""}, {"c", "~!"}}),
            (Pairs{{"a", "x  y"}, {"b", ""}, {"c", "~!"}}));
}

TEST(WireMetadata, BytesAreUnpaddedBase64) {
  EXPECT_EQ(metadata_to_wire({{"x-bin", std::string("\0\r\n", 3)}, {"y-bin", "a"}, {"z-bin", ""}}),
            (Pairs{{"x-bin", "AA0K"}, {"y-bin", "YQ"}, {"z-bin", ""}}));
}

TEST(WireMetadata, BytesAreReadWithAndWithoutPaddingAndFromLists) {
  EXPECT_EQ(metadata_from_wire({{"x-bin", "YQ=="}, {"y-bin", "YQ"}, {"Z-Bin", "YQ, Yg==,"}}),
            (Pairs{{"x-bin", "a"}, {"y-bin", "a"}, {"z-bin", "a"}, {"z-bin", "b"}}));
  EXPECT_EQ(metadata_from_wire({{"x-bin", "Y"}, {"x-bin", "a b"}, {"x-bin", "YR"}}), Pairs{})
      << "no base64";
}

TEST(WireMetadata, ReadsNamesWithoutRegardToCase) {
  EXPECT_EQ(metadata_from_wire({{"Acme-Cost", "A, b"}, {"acme-cost", ""}}),
            (Pairs{{"acme-cost", "A, b"}, {"acme-cost", ""}}));
  EXPECT_EQ(metadata_from_wire({{"Content-Type", "x"}, {"GRPC-Status", "0"}, {"grpc-message", ""}}),
            Pairs{});
}

}  // namespace
}  // namespace davit::host
