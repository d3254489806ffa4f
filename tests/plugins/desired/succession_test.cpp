#include <gtest/gtest.h>

#include "succession.hpp"

namespace davit::desired {
namespace {

Progress agent(const std::string& name, Epoch epoch, int64_t seen_s, std::vector<std::string> kinds,
               const std::string& region = "eu") {
  Progress p{region, name, "davit", epoch, {}, {}, seen_s * 1000};
  for (auto& kind : kinds) p.kinds.push_back({std::move(kind), {7, 1}});
  return p;
}

TEST(Succession, APlaceIsTakenByOneThatCameLaterAndIsHeardOfWhenTheOtherIsSilent) {
  const Progress one = agent("one", 5, 1000, {"widget", "gadget"});
  struct Row {
    const char* what;
    Progress other;
    bool widget, all;
  };
  const Row rows[] = {
      {"a later epoch, heard of since", agent("two", 6, 1091, {"gadget", "widget"}), true, true},
      {"one kind of two", agent("two", 6, 1091, {"widget"}), true, false},
      {"another kind", agent("two", 6, 1091, {"gizmo"}), false, false},
      {"both are heard of", agent("two", 6, 1090, {"widget", "gadget"}), false, false},
      {"an older one that still speaks", agent("two", 4, 5000, {"widget", "gadget"}), false, false},
      {"the same epoch says nothing", agent("two", 5, 5000, {"widget", "gadget"}), false, false},
      {"another region", agent("two", 6, 5000, {"widget", "gadget"}, "us"), false, false},
  };
  for (const auto& row : rows) {
    Succession s;
    s.add(one);
    s.add(row.other);
    EXPECT_EQ(s.taken_over(one, "widget"), row.widget) << row.what;
    EXPECT_EQ(s.taken_over(one), row.all) << row.what;
    EXPECT_FALSE(s.taken_over(row.other)) << row.what;
  }
}

TEST(Succession, AKindMayGoToOneAndTheOtherToAnother) {
  const Progress one = agent("one", 5, 1000, {"widget", "gadget"});
  const Progress two = agent("two", 6, 5000, {"widget"}),
                 three = agent("three", 7, 5000, {"gadget"});
  Succession s;
  for (const auto* p : {&one, &two, &three}) s.add(*p);
  EXPECT_TRUE(s.taken_over(one));
}

TEST(Succession, OneWithoutKindsIsNeverTakenOver) {
  const Progress one = agent("one", Epoch(), 1000, {}), two = agent("two", 6, 5000, {"widget"});
  Succession s;
  s.add(one);
  s.add(two);
  EXPECT_FALSE(s.taken_over(one));
}

TEST(Succession, TheLastWordAndTheGreatestEpochOfARegionAreNotForgotten) {
  struct Row {
    const char* what;
    std::vector<Progress> agents;
    const char* forgettable;
  };
  const Row rows[] = {
      {"alone", {agent("a", 1, 10, {})}, ""},
      {"not silent for long enough", {agent("a", 1, 100, {}), agent("b", 2, 500, {})}, ""},
      {"silent, and another is there", {agent("a", 1, 99, {}), agent("b", 2, 500, {})}, "a "},
      {"all are silent",
       {agent("a", 1, 10, {}), agent("b", 2, 20, {}), agent("c", 3, 30, {})},
       "a b "},
      {"of ctrl.v1, which has no epochs",
       {agent("a", Epoch(), 10, {}), agent("b", Epoch(), 20, {})},
       "a "},
      {"its epoch is the greatest", {agent("a", 9, 10, {}), agent("b", 2, 500, {})}, ""},
      {"until a greater one comes",
       {agent("a", 9, 10, {}), agent("b", 2, 50, {}), agent("c", 10, 500, {})},
       "a b "},
      {"another region's does not count",
       {agent("a", 1, 10, {}), agent("b", 2, 500, {}, "us")},
       ""},
  };
  for (const auto& row : rows) {
    Succession s;
    for (const auto& p : row.agents) s.add(p);
    std::string out;
    for (const auto& p : row.agents) {
      if (s.forgettable(p, 100'000)) out += p.agent + " ";
    }
    EXPECT_EQ(out, row.forgettable) << row.what;
  }
}

}  // namespace
}  // namespace davit::desired
