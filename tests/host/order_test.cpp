#include "assembly/order.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

std::string order(const std::vector<Vertex>& graph) {
  const auto result = start_order(graph);
  if (!result.ok()) return result.error().message;
  std::string out;
  for (size_t i : *result) out += graph[i].name;
  return out;
}

TEST(StartOrder, IsThatOfTheFileWhenNobodyLooksUp) {
  EXPECT_EQ(order({{"a", {}}, {"b", {}}, {"c", {}}}), "abc");
}

TEST(StartOrder, PutsWhatIsUsedFirst) {
  EXPECT_EQ(order({{"a", {2}}, {"b", {}}, {"c", {}}}), "bca");
  EXPECT_EQ(order({{"a", {1}}, {"b", {2}}, {"c", {3}}, {"d", {}}}), "dcba");
  EXPECT_EQ(order({{"a", {1, 2}}, {"b", {3}}, {"c", {3}}, {"d", {}}}), "dbca");
}

TEST(StartOrder, NamesACircleWithoutWhatLeadsToIt) {
  EXPECT_EQ(order({{"x", {1}}, {"a", {2}}, {"b", {1}}}),
            "plugins look each other up in a circle: a -> b -> a");
  EXPECT_EQ(order({{"a", {0}}}), "plugins look each other up in a circle: a -> a");
}

TEST(StartOrder, OfNothingIsNothing) {
  EXPECT_EQ(order({}), "");
}

}  // namespace
}  // namespace davit::host
