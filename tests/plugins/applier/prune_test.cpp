#include "prune.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

struct PruneRow {
  const char* name;
  SnapshotEnd end;
  size_t candidates;
  Version candidate_version;
  PruneRules rules;
  size_t removed, orphaned;
  bool refused;
};

const History known{{1, 50}};
const History other{{2, 50}};
const History none;

const PruneRow prunes[] = {
    {"CountsAgree", {known, 100, 100, Version(50)}, 3, 7, {}, 3, 0, false},
    {"CountsDiffer", {known, 100, 99, Version(50)}, 3, 7, {}, 0, 3, true},
    {"CountedTooMany", {known, 99, 100, Version(50)}, 3, 7, {}, 0, 3, true},
    {"NothingToPrune", {known, 100, 99, Version(50)}, 0, 7, {}, 0, 0, false},
    {"OfAnotherHistory", {other, 100, 100, Version(50)}, 3, 7, {}, 0, 3, false},
    {"CleanCloseIsNoCount", {none, std::nullopt, 100, std::nullopt}, 3, 7, {}, 0, 3, false},
    {"CleanCloseBySetting",
     {none, std::nullopt, 100, std::nullopt},
     3,
     7,
     {true, 50, 10},
     3,
     0,
     false},
    {"SilenceIsNoEnd",
     {none, std::nullopt, 100, Version(50), true},
     3,
     7,
     {true, 100, 10},
     0,
     3,
     false},
    {"OfAnotherHistoryOnClose",
     {other, std::nullopt, 100, std::nullopt},
     3,
     7,
     {true, 50, 10},
     0,
     3,
     false},
    {"OfAVersionTheStoreDoesNotKnow", {known, 100, 100, Version(50)}, 3, 51, {}, 0, 3, false},
    {"OfTheSnapshotsOwnVersion", {known, 100, 100, Version(50)}, 3, 50, {}, 3, 0, false},
    {"EmptyStoreManyObjects", {known, 0, 0, Version(50)}, 11, 7, {}, 0, 11, true},
    {"EmptyStoreFewObjects", {known, 0, 0, Version(50)}, 10, 7, {}, 10, 0, false},
    {"StoreThatWasNeverWritten", {History{{1, 0}}, 0, 0, Version(0)}, 3, 7, {}, 0, 3, false},
    {"HalfMayGo", {known, 20, 20, Version(50)}, 20, 7, {}, 20, 0, false},
    {"MoreThanHalfMayNot", {known, 19, 19, Version(50)}, 20, 7, {}, 0, 20, true},
    {"NeverPrune", {known, 20, 20, Version(50)}, 1, 7, {false, 0, 0}, 0, 1, true},
};

class Prune : public ::testing::TestWithParam<PruneRow> {};

TEST_P(Prune, Decides) {
  const PruneRow& row = GetParam();
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < row.candidates; ++i)
    candidates.push_back({i + 1, {{1, row.candidate_version}}});
  const PruneDecision v = prune(row.end, candidates, row.rules);
  EXPECT_EQ(v.remove.size(), row.removed);
  EXPECT_EQ(v.orphans.size(), row.orphaned);
  EXPECT_EQ(!v.refusal.empty(), row.refused) << v.refusal;
  for (const auto& orphan : v.orphans) EXPECT_FALSE(orphan.why.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, Prune, ::testing::ValuesIn(prunes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Prune, KeepsOnlyWhatTheStoreHasLost) {
  const PruneDecision v = prune({known, 5, 5, Version(50)}, {{1, {{1, 40}}}, {2, {{1, 60}}}}, {});
  ASSERT_EQ(v.remove.size(), 1u);
  EXPECT_EQ(v.remove[0], 1u);
  ASSERT_EQ(v.orphans.size(), 1u);
  EXPECT_EQ(v.orphans[0].entry, 2u);
}

TEST(Prune, KeepsWhatNothingIsKnownOf) {
  const PruneDecision v = prune({known, 5, 5, Version(50)}, {{1, {}}}, {});
  EXPECT_TRUE(v.remove.empty());
  ASSERT_EQ(v.orphans.size(), 1u);
}

TEST(Prune, OneObjectOfALostRecordIsEnough) {
  const PruneDecision v = prune({known, 5, 5, Version(50)}, {{1, {{1, 40}, {2, 3}}}}, {});
  EXPECT_TRUE(v.remove.empty());
  EXPECT_EQ(v.orphans.size(), 1u);
}

TEST(Prune, AnOlderIncarnationEndsWhereTheNextBegins) {
  const History chain{{1, 50}, {2, 90}};
  const PruneDecision v =
      prune({chain, 5, 5, Version(90)}, {{1, {{1, 50}}}, {2, {{1, 51}}}, {3, {{2, 90}}}}, {});
  EXPECT_EQ(v.remove, (std::vector<uint64_t>{1, 3}));
}

// A peer may leave out what lives; a tombstone is its word.
TEST(Prune, WhatHasATombstoneGoesWhateverItsShare) {
  const PruneRules rules{false, 50, 0};
  std::vector<Candidate> candidates;
  for (uint64_t i = 1; i <= 41; ++i) candidates.push_back({i, {{1, 7}}, i != 41, false});
  PruneDecision v = prune({known, 11, 11, Version(50)}, candidates, rules);
  EXPECT_EQ(v.remove.size(), 41u) << "the share is of what has none";
  for (auto& c : candidates) c.proven_deleted = c.entry <= 10;
  v = prune({known, 11, 11, Version(50)}, candidates, rules);
  EXPECT_EQ(v.remove.size(), 10u);
  EXPECT_EQ(v.orphans.size(), 31u);
  EXPECT_FALSE(v.refusal.empty());
}

TEST(Prune, ATombstoneIsNoProofAgainstALostHistoryOrAWrongCount) {
  const Candidate dead{1, {{1, 7}}, true, false};
  EXPECT_TRUE(prune({other, 5, 5, Version(50)}, {dead}, {}).remove.empty());
  EXPECT_TRUE(prune({known, 5, 4, Version(50)}, {dead}, {}).remove.empty());
}

TEST(Prune, AnAnnotationThatContradictsTheNameIsNoReasonToRemove) {
  const PruneDecision v = prune({known, 5, 5, Version(50)}, {{1, {{1, 7}}, true, true}}, {});
  EXPECT_TRUE(v.remove.empty());
  EXPECT_EQ(v.orphans.size(), 1u);
}

TEST(Prune, WithoutAStampOfAHistoryNothingGoes) {
  const PruneDecision v = prune({known, 5, 5, Version(50)}, {{1, {{0, 40}}}}, {});
  EXPECT_TRUE(v.remove.empty());
}

TEST(Continued, TakesWhatIsToldFromTheCursorsIncarnationOn) {
  const auto same = [](const History& is, const History& wanted) {
    return std::ranges::equal(is, wanted, [](Cursor a, Cursor b) {
      return a.incarnation == b.incarnation && a.version == b.version;
    });
  };
  const History before{{1, 50}, {2, 90}, {3, 95}};
  EXPECT_TRUE(same(continued(before, {{2, 80}, {4, 81}}, {4, 80}), {{1, 50}, {2, 80}, {4, 81}}))
      << "the store was restored: 3 is lost, and 2 above 80";
  EXPECT_TRUE(same(continued(before, {}, {4, 96}), {{1, 50}, {2, 90}, {3, 95}, {4, 96}}))
      << "of a server that tells no more";
  EXPECT_TRUE(same(continued(before, {}, {3, 96}), before));
  EXPECT_TRUE(same(continued({}, {}, {0, 7}), {})) << "of a peer without incarnations";
}

}  // namespace
}  // namespace davit::applier
