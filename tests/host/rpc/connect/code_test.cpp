#include "rpc/connect/code.hpp"

#include <gtest/gtest.h>

#include <map>

namespace davit::host {
namespace {

struct CodeRow {
  Code code;
  const char* name;
  int status;
};
// The table of connectrpc.com/docs/protocol.
constexpr CodeRow published[] = {
    {Code::cancelled, "canceled", 499},
    {Code::unknown, "unknown", 500},
    {Code::invalid_argument, "invalid_argument", 400},
    {Code::deadline_exceeded, "deadline_exceeded", 504},
    {Code::not_found, "not_found", 404},
    {Code::already_exists, "already_exists", 409},
    {Code::permission_denied, "permission_denied", 403},
    {Code::resource_exhausted, "resource_exhausted", 429},
    {Code::failed_precondition, "failed_precondition", 400},
    {Code::aborted, "aborted", 409},
    {Code::out_of_range, "out_of_range", 400},
    {Code::unimplemented, "unimplemented", 501},
    {Code::internal, "internal", 500},
    {Code::unavailable, "unavailable", 503},
    {Code::data_loss, "data_loss", 500},
    {Code::unauthenticated, "unauthenticated", 401},
};

TEST(ConnectCode, HasTheNamesAndStatusesOfTheProtocol) {
  for (const CodeRow& row : published) {
    EXPECT_EQ(code_name(row.code), row.name);
    EXPECT_EQ(code_named(row.name), row.code) << row.name;
    EXPECT_EQ(http_status(row.code), row.status) << row.name;
  }
}

TEST(ConnectCode, AWordThatIsNoCodeHasNone) {
  for (const char* word : {"", "ok", "OK", "cancelled", "Canceled", "NOT_FOUND", "not_found ", "5",
                           "not found", "unavailabl"}) {
    EXPECT_EQ(code_named(word), std::nullopt) << word;
  }
  EXPECT_EQ(code_named(std::string_view("unknown\0", 8)), std::nullopt);
}

TEST(ConnectCode, ANumberThatIsNoCodeIsUnknown) {
  for (const int number : {-1, 17, 99, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(code_name(static_cast<Code>(number)), "unknown") << number;
    EXPECT_EQ(http_status(static_cast<Code>(number)), 500) << number;
  }
}

TEST(ConnectCode, SaysWhatAForeignAnswerMeans) {
  const std::map<int, Code> named = {{400, Code::internal},          {401, Code::unauthenticated},
                                     {403, Code::permission_denied}, {404, Code::unimplemented},
                                     {429, Code::unavailable},       {502, Code::unavailable},
                                     {503, Code::unavailable},       {504, Code::unavailable}};
  for (int status = -1; status < 1000; ++status) {
    const auto row = named.find(status);
    EXPECT_EQ(code_of_http(status), row == named.end() ? Code::unknown : row->second) << status;
  }
}

}  // namespace
}  // namespace davit::host
