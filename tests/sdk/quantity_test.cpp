#include <davit/kubernetes/quantity.hpp>

#include <gtest/gtest.h>

namespace davit::kubernetes {
namespace {

TEST(Quantity, IsPrintedAsTheApiServerPrintsIt) {
  const std::pair<int64_t, const char*> cpu[] = {{0, "0"},        {1, "1m"},        {250, "250m"},
                                                 {1000, "1"},     {1500, "1500m"},  {10000, "10"},
                                                 {1000000, "1k"}, {1001000, "1001"}};
  for (const auto& [millicores, text] : cpu) EXPECT_EQ(cpu_quantity(millicores), text);
  const std::pair<int64_t, const char*> memory[] = {
      {0, "0"},         {1, "1Mi"},    {512, "512Mi"},  {1024, "1Gi"},
      {1536, "1536Mi"}, {3072, "3Gi"}, {1048576, "1Ti"}};
  for (const auto& [mib, text] : memory) EXPECT_EQ(memory_quantity(mib), text);
}

TEST(Quantity, IsReadInEveryFormThatKubernetesWrites) {
  const std::pair<const char*, int64_t> cpu[] = {
      {"1", 1000}, {"250m", 250}, {"0.5", 500},  {"1k", 1000000}, {"1e3", 1000000},
      {"100u", 1}, {"0", 0},      {"1.5", 1500}, {"0.1", 100},    {"333m", 333}};
  for (const auto& [text, millicores] : cpu) EXPECT_EQ(millicores_of(text), millicores) << text;
  const std::pair<const char*, int64_t> memory[] = {
      {"256Mi", 256},     {"1Gi", 1024},   {"1G", 953},           {"1048576", 1},
      {"1048576000m", 1}, {"1.5Gi", 1536}, {"2E", 1907348632812}, {"1Ei", 1099511627776}};
  for (const auto& [text, mib] : memory) EXPECT_EQ(mib_of(text), mib) << text;
}

TEST(Quantity, IsNothingWhenItIsNone) {
  for (const char* text :
       {"", "x", "1x", "1 Gi", "-1", "nan", "inf", "Mi", "0x10", "1mi", "100E", "1Gi "}) {
    EXPECT_FALSE(mib_of(text).has_value()) << text;
  }
}

TEST(Quantity, SurvivesTheWayThereAndBack) {
  for (int64_t n = 0; n < 100'000; n += 7) {
    ASSERT_EQ(millicores_of(cpu_quantity(n)), n);
    ASSERT_EQ(mib_of(memory_quantity(n)), n);
  }
}

}  // namespace
}  // namespace davit::kubernetes
