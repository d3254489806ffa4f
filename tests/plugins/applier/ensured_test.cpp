// What is remembered of namespaces that come and go.
#include <gtest/gtest.h>

#include "reconcile_context.hpp"

namespace davit::applier {
namespace {

std::string path_of(int n) {
  return "/api/v1/namespaces/ns-" + std::to_string(n);
}

TEST(Ensured, RemembersWhatLiveRecordsAskFor) {
  Ensured ensured;
  ensured.add("lives");
  for (int n = 0; n < 100; ++n) {
    ensured.turn();
    EXPECT_TRUE(ensured.contains("lives")) << n;
  }
  ensured.turn();
  ensured.turn();
  EXPECT_FALSE(ensured.contains("lives")) << "nobody has asked between the two";
}

TEST(Ensured, IsBoundedByWhatLives) {
  Ensured ensured;
  ensured.add("lives");
  for (int round = 0; round < 1000; ++round) {
    for (int n = 0; n < 100; ++n) ensured.add(path_of(100 * round + n));
    EXPECT_TRUE(ensured.contains("lives"));
    ensured.turn();
    EXPECT_LE(ensured.size(), 101u);
  }
}

TEST(Ensured, IsBoundedBetweenTwoTurnsToo) {
  Ensured ensured(1000);
  for (int n = 0; n < 100'000; ++n) {
    ensured.add(path_of(n));
    EXPECT_TRUE(ensured.contains(path_of(n)));
  }
  EXPECT_LE(ensured.size(), 2000u);
}

TEST(Ensured, ForgetsWhatIsGoneWhereverItIs) {
  Ensured ensured;
  ensured.add("a");
  ensured.turn();
  ensured.add("b");
  ensured.forget("a");
  ensured.forget("b");
  EXPECT_FALSE(ensured.contains("a"));
  EXPECT_FALSE(ensured.contains("b"));
  EXPECT_EQ(ensured.size(), 0u);
}

}  // namespace
}  // namespace davit::applier
