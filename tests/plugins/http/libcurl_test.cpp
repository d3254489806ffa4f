// Failures for one reason have one text, however long each took.
#include "http/libcurl.hpp"

#include <gtest/gtest.h>

namespace davit::http {
namespace {

constexpr int couldnt_connect = 7;  // CURLE_COULDNT_CONNECT

TEST(WhyItFailed, LeavesOutWhatDiffersFromOneAttemptToTheNext) {
  const std::pair<const char*, const char*> rows[] = {
      {"Failed to connect to 10.0.0.1 port 6443 after 12 ms: Couldn't connect to server",
       "failed to connect to 10.0.0.1 port 6443: Couldn't connect to server"},
      {"Connection timed out after 2001 milliseconds", "connection timed out"},
      {"Connection timeout after 2001 ms", "connection timeout"},
      {"Operation timed out after 300 milliseconds with 12 out of 100 bytes received",
       "operation timed out"},
      {"Operation timed out after 300 milliseconds with 0 bytes received", "operation timed out"},
      {"Resolving timed out after 9 milliseconds", "resolving timed out"},
      {"Failed to resolve host 'a' with timeout after 9 ms", "failed to resolve host 'a'"},
      {"Recv failure: Connection reset by peer", "recv failure: Connection reset by peer"},
      {"transfer closed with 4711 bytes remaining to read", "transfer closed"},
      {"the road after 5 bends", "the road after 5 bends"},
  };
  for (const auto& [said, why] : rows)
    EXPECT_EQ(why_it_failed(couldnt_connect, said), why) << said;
}

TEST(WhyItFailed, SaysWhatTheCodeMeansWhenLibcurlSaysNoMore) {
  EXPECT_EQ(why_it_failed(couldnt_connect, ""), "couldn't connect to server");
}

}  // namespace
}  // namespace davit::http
