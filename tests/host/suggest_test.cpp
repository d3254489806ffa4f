#include "config/suggest.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(Distance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  const std::tuple<const char*, const char*, size_t> rows[] = {
      {"", "", 0},
      {"", "abc", 3},
      {"abc", "", 3},
      {"listen", "listen", 0},
      {"listn", "listen", 1},
      {"listen", "lsiten", 1},
      {"kitten", "sitting", 3},
      {"abcd", "dcba", 3},
      {"ab", "ba", 1},
  };
  for (const auto& [a, b, d] : rows) EXPECT_EQ(distance(a, b), d) << a << " " << b;
}

TEST(Nearest, IsATypingErrorAwayOrNothing) {
  const std::vector<std::string> words = {"listen", "workers", "poll_interval_ms", "id"};
  EXPECT_EQ(nearest("lisen", words), "listen");
  EXPECT_EQ(nearest("worker", words), "workers");
  EXPECT_EQ(nearest("poll_interval", words), "poll_interval_ms");
  EXPECT_EQ(nearest("ID", words), "");
  EXPECT_EQ(nearest("di", words), "id");
  EXPECT_EQ(nearest("password", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), words), "");
}

}  // namespace
}  // namespace davit::host
