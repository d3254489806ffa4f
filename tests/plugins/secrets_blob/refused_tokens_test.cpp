#include "refused_tokens.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;

RefusedTokens::Digest digest(const std::string& token) {
  return RefusedTokens::digest_of(token);
}

TEST(RefusedTokens, AreKnownForAWhile) {
  RefusedTokens tokens(10s);
  tokens.add(digest("a"), 100s);
  EXPECT_TRUE(tokens.has(digest("a"), 109s));
  EXPECT_FALSE(tokens.has(digest("b"), 109s));
  EXPECT_FALSE(tokens.has(digest("a"), 110s));
}

TEST(RefusedTokens, AreNotKnownForLongerBecauseTheyComeAgain) {
  RefusedTokens tokens(10s);
  tokens.add(digest("a"), 100s);
  tokens.add(digest("a"), 109s);
  EXPECT_FALSE(tokens.has(digest("a"), 110s));
}

TEST(RefusedTokens, AreNotKeptWhenNoTimeIsGiven) {
  RefusedTokens tokens(0s);
  tokens.add(digest("a"), 100s);
  EXPECT_FALSE(tokens.has(digest("a"), 100s));
}

TEST(RefusedTokens, TheOldestMakesRoom) {
  RefusedTokens tokens(10s);
  tokens.add(digest("first"), 100s);
  tokens.add(digest("second"), 100s);
  for (size_t n = 0; n + 1 < RefusedTokens::tokens_max; ++n)
    tokens.add(digest(std::to_string(n)), 101s);
  EXPECT_FALSE(tokens.has(digest("first"), 101s));
  EXPECT_TRUE(tokens.has(digest("second"), 101s));
}

}  // namespace
}  // namespace davit::secrets_blob
