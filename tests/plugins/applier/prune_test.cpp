#include "prune.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

struct Row {
  const char* name;
  SnapshotEnd end;
  size_t candidates;
  uint64_t candidate_version;
  PruneRules rules;
  size_t removed, orphaned;
  bool refused;
};

const Row rows[] = {
    {"CountsAgree", {false, 100, 100, 50}, 3, 7, {}, 3, 0, false},
    {"CountsDiffer", {false, 100, 99, 50}, 3, 7, {}, 0, 3, true},
    {"CountedTooMany", {false, 99, 100, 50}, 3, 7, {}, 0, 3, true},
    {"NothingToPrune", {false, 100, 99, 50}, 0, 7, {}, 0, 0, false},
    {"HistoryChanged", {true, 100, 100, 50}, 3, 7, {}, 0, 3, false},
    {"CleanCloseIsNoCount", {false, std::nullopt, 100, std::nullopt}, 3, 7, {}, 0, 3, false},
    {"CleanCloseBySetting",
     {false, std::nullopt, 100, std::nullopt},
     3,
     7,
     {true, 50, 10},
     3,
     0,
     false},
    {"HistoryChangedOnClose",
     {true, std::nullopt, 100, std::nullopt},
     3,
     7,
     {true, 50, 10},
     0,
     3,
     false},
    {"OfAVersionTheStoreDoesNotKnow", {false, 100, 100, 50}, 3, 51, {}, 0, 3, false},
    {"OfTheSnapshotsOwnVersion", {false, 100, 100, 50}, 3, 50, {}, 3, 0, false},
    {"EmptyStoreManyObjects", {false, 0, 0, 50}, 11, 7, {}, 0, 11, true},
    {"EmptyStoreFewObjects", {false, 0, 0, 50}, 10, 7, {}, 10, 0, false},
    {"StoreThatWasNeverWritten", {false, 0, 0, 0}, 3, 7, {}, 0, 3, false},
    {"HalfMayGo", {false, 20, 20, 50}, 20, 7, {}, 20, 0, false},
    {"MoreThanHalfMayNot", {false, 19, 19, 50}, 20, 7, {}, 0, 20, true},
    {"NeverPrune", {false, 20, 20, 50}, 1, 7, {false, 0, 0}, 0, 1, true},
};

class Prune : public testing::TestWithParam<Row> {};

TEST_P(Prune, Decides) {
  const Row& row = GetParam();
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < row.candidates; ++i) candidates.push_back({i + 1, row.candidate_version});
  const Verdict v = prune(row.end, candidates, row.rules);
  EXPECT_EQ(v.remove.size(), row.removed);
  EXPECT_EQ(v.orphans.size(), row.orphaned);
  EXPECT_EQ(!v.refusal.empty(), row.refused) << v.refusal;
  for (const auto& orphan : v.orphans) EXPECT_FALSE(orphan.why.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, Prune, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Prune, KeepsOnlyWhatTheStoreHasLost) {
  const Verdict v = prune({false, 5, 5, 50}, {{1, 40}, {2, 60}}, {});
  ASSERT_EQ(v.remove.size(), 1u);
  EXPECT_EQ(v.remove[0], 1u);
  ASSERT_EQ(v.orphans.size(), 1u);
  EXPECT_EQ(v.orphans[0].slot, 2u);
}

}  // namespace
}  // namespace davit::applier
