// What is to be done about an object. The agent applies version 10 of a record, which it has read
// in incarnation 2; the store was in incarnation 1 up to version 8. What the kind renders has the
// fingerprint 7, and the API server's answer to the last apply of it, in version 5 of the object,
// has the fingerprint 70.
#include "drift.hpp"

#include <gtest/gtest.h>

#include "object.hpp"

namespace davit::applier {
namespace {

using Presence = ObjectState::Presence;

const History told_history{{1, 8}, {2, 10}};
const Incarnations not_of_this_store{66};
const Knowledge this_agent{10, 2, 2, &told_history, &not_of_this_store};
constexpr std::chrono::seconds long_wait{3};

// What this process has done before: nothing, applied what is wanted now, or applied another
// rendering (fingerprint 6).
enum class AppliedBefore { nothing, this_one, another };

struct DriftRow {
  const char* name;
  AppliedBefore before;
  ObjectState state;
  Drift drift;
  std::chrono::seconds repair_wait{0};
  WantedObject wanted{7, false, true};
};

ObjectState not_shown(Presence presence) {
  return {presence, {}, {}};
}
ObjectState in_version(const char* version) {
  return {Presence::known, version, {}};
}
// Of version 9 of the record, as the API server answered the last apply.
ObjectContent as_answered() {
  return {"", true, false, 70, hex(7), {2, 9}};
}
// As plain as it was rendered.
ObjectContent as_rendered() {
  return {"", true, false, 7, hex(7), {2, 9}};
}
ObjectState saying(ObjectContent content) {
  return {Presence::known, "6", std::move(content)};
}
ObjectContent edited(ObjectContent content = as_answered()) {
  content.projected = 71;
  return content;
}
ObjectContent made_of(Cursor version, ObjectContent content = as_answered()) {
  content.made_of = version;
  return content;
}
ObjectContent owned_by(const char* owner) {
  ObjectContent content = as_answered();
  content.owner = owner;
  return content;
}
ObjectContent unstamped() {
  return {"", false, false, 71, "", {}};
}
ObjectContent leaving(ObjectContent content = as_answered()) {
  content.terminating = true;
  return content;
}

const DriftRow not_shown_rows[] = {
    {"AnObjectThatNoWatchShowsIsRead", AppliedBefore::nothing, not_shown(Presence::unseen),
     Drift::read},
    {"AnAppliedObjectCountsAsThereWhileNoWatchIsTrusted", AppliedBefore::this_one,
     not_shown(Presence::unseen), Drift::none},
    {"ANewRenderingDoesNot", AppliedBefore::another, not_shown(Presence::unseen), Drift::read},
    {"WhatACompleteWatchDoesNotShowMayLackOurLabels", AppliedBefore::nothing,
     not_shown(Presence::hidden), Drift::read},
    {"EvenIfItWasApplied", AppliedBefore::this_one, not_shown(Presence::hidden), Drift::read},
    {"WhatSomebodyKeepsDeletingWaits", AppliedBefore::this_one, not_shown(Presence::hidden),
     Drift::remake_later, long_wait},
    {"ANewRenderingDoesNotWait", AppliedBefore::another, not_shown(Presence::hidden), Drift::read,
     long_wait},
    {"WhatIsAbsentIsCreated", AppliedBefore::nothing, not_shown(Presence::absent), Drift::apply},
    {"WhatWasDeletedIsRepaired", AppliedBefore::this_one, not_shown(Presence::absent),
     Drift::repair},
    {"WhatWasDeletedAgainAndAgainWaits", AppliedBefore::this_one, not_shown(Presence::absent),
     Drift::remake_later, long_wait},
    {"OfANewRenderingNobodyIsToBlame", AppliedBefore::another, not_shown(Presence::absent),
     Drift::apply, long_wait},
};

const DriftRow content_rows[] = {
    {"TheVersionOfOurOwnApplyNeedsNoLook", AppliedBefore::this_one, in_version("5"), Drift::none},
    {"AnotherVersionIsExamined", AppliedBefore::this_one, in_version("6"), Drift::examine},
    {"SoIsANewRendering", AppliedBefore::another, in_version("5"), Drift::examine},
    {"SoIsWhatAnEarlierProcessApplied", AppliedBefore::nothing, in_version("5"), Drift::examine},
    {"AChangeOfAnotherFieldIsNoDrift", AppliedBefore::this_one, saying(as_answered()), Drift::none},
    {"AnEditIsRepaired", AppliedBefore::this_one, saying(edited()), Drift::repair},
    {"RepeatedEditsWait", AppliedBefore::this_one, saying(edited()), Drift::repair_later,
     long_wait},
    {"ANewRenderingIsApplied", AppliedBefore::another, saying(as_answered()), Drift::apply},
    {"AtOnce", AppliedBefore::another, saying(edited()), Drift::apply, long_wait},
    {"AfterARestartTheHashAndEqualityDecide", AppliedBefore::nothing, saying(as_rendered()),
     Drift::none},
    {"ADefaultThatWasAddedCostsOneApply", AppliedBefore::nothing, saying(as_answered()),
     Drift::apply},
    {"AHashAloneProvesNothing", AppliedBefore::nothing, saying(edited()), Drift::apply},
    {"WhatIsBeingDeletedWaits", AppliedBefore::this_one, saying(leaving()), Drift::terminating},
    {"WhetherItDiffersOrNot", AppliedBefore::another, saying(leaving(edited())),
     Drift::terminating},
};

const DriftRow owner_rows[] = {
    {"AnObjectOfOthersIsLeftAlone", AppliedBefore::nothing, saying(owned_by("region \"us\"")),
     Drift::foreign},
    {"EvenIfItIsAsWanted", AppliedBefore::this_one, saying(owned_by("region \"us\"")),
     Drift::foreign},
    {"AnObjectWithoutStampsIsAdopted", AppliedBefore::nothing, saying(unstamped()), Drift::apply},
    {"ExceptByARule",
     AppliedBefore::nothing,
     saying(unstamped()),
     Drift::not_adopted,
     {},
     {7, false, false}},
    {"TheRuleIsNotForOurOwn",
     AppliedBefore::this_one,
     saying(edited()),
     Drift::repair,
     {},
     {7, false, false}},
    {"WhoseItIsComesBeforeItsDeletion", AppliedBefore::nothing, saying(leaving(owned_by("x"))),
     Drift::foreign},
};

const DriftRow history_rows[] = {
    {"AnOlderIncarnationIsOfThisHistory", AppliedBefore::this_one, saying(made_of({1, 8})),
     Drift::none},
    {"WhatTheStoreHasLostIsStampedAnew", AppliedBefore::this_one, saying(made_of({1, 9})),
     Drift::apply},
    {"NobodyIsToBlameForThat", AppliedBefore::this_one, saying(made_of({1, 9})), Drift::apply,
     long_wait},
    {"AnEditOfALostVersionIsARepair", AppliedBefore::this_one, saying(made_of({1, 9}, edited())),
     Drift::repair},
    {"ALaterVersionIsFenced", AppliedBefore::another, saying(made_of({2, 11})), Drift::made_later},
    {"SoIsALaterVersionThatSomebodyEdited", AppliedBefore::this_one,
     saying(made_of({2, 11}, edited())), Drift::made_later},
    {"ALaterVersionThatSaysTheSameIsAsWanted", AppliedBefore::this_one, saying(made_of({2, 11})),
     Drift::none},
    {"NoRecordFencesWhatIsShared",
     AppliedBefore::another,
     saying(made_of({2, 11})),
     Drift::apply,
     {},
     {7, true, true}},
    {"AnUnknownIncarnationMayBeLater", AppliedBefore::another, saying(made_of({3, 1})),
     Drift::unplaced},
    {"EvenIfTheContentIsAsWanted", AppliedBefore::this_one, saying(made_of({3, 1})),
     Drift::unplaced},
    {"AnIncarnationOfAnotherStoreIsNotLater", AppliedBefore::another, saying(made_of({66, 99})),
     Drift::apply},
};

class DriftTable : public ::testing::TestWithParam<DriftRow> {};

TEST_P(DriftTable, Decides) {
  const DriftRow& row = GetParam();
  const Applied applied{row.before == AppliedBefore::another ? 6u : 7u, 70, "uid", "5", {2, 9}};
  const LastApply last{row.before == AppliedBefore::nothing ? nullptr : &applied, row.repair_wait};
  EXPECT_EQ(drift(row.wanted, row.state, last, this_agent), row.drift);
}

const auto row_name = [](const auto& row) { return std::string(row.param.name); };
INSTANTIATE_TEST_SUITE_P(NotShown, DriftTable, ::testing::ValuesIn(not_shown_rows), row_name);
INSTANTIATE_TEST_SUITE_P(Content, DriftTable, ::testing::ValuesIn(content_rows), row_name);
INSTANTIATE_TEST_SUITE_P(Owner, DriftTable, ::testing::ValuesIn(owner_rows), row_name);
INSTANTIATE_TEST_SUITE_P(Histories, DriftTable, ::testing::ValuesIn(history_rows), row_name);

// An object in the version of our own apply needs a look all the same when the store has lost what
// it was made of.
TEST(Drift, OfAVersionThatTheStoreHasLostIsExamined) {
  const Applied applied{7, 70, "uid", "5", {1, 9}};
  EXPECT_EQ(drift({7}, in_version("5"), {&applied}, this_agent), Drift::examine);
}

// ctrl.v1 names no incarnations.
TEST(Drift, OfAPeerWithoutAHistoryIsJudgedByTheContentAlone) {
  const Knowledge ctrl{10, 0, 0, nullptr, nullptr};
  const Applied applied{7, 70, "uid", "5", {0, 9}};
  for (const Cursor at : {Cursor{0, 9}, Cursor{0, 99}, Cursor{3, 99}}) {
    EXPECT_EQ(drift({7}, saying(made_of(at)), {&applied}, ctrl), Drift::none) << at.version;
    EXPECT_EQ(drift({6}, saying(made_of(at)), {&applied}, ctrl), Drift::apply) << at.version;
  }
}

// The questions end: whatever is asked for leads to an answer.
TEST(Drift, AsksForNothingTwice) {
  for (const auto& table :
       {std::vector<DriftRow>(std::begin(content_rows), std::end(content_rows)),
        std::vector<DriftRow>(std::begin(owner_rows), std::end(owner_rows)),
        std::vector<DriftRow>(std::begin(history_rows), std::end(history_rows))}) {
    for (const DriftRow& row : table) {
      if (!row.state.content) continue;
      const Drift found = drift(row.wanted, row.state, {}, this_agent);
      EXPECT_NE(found, Drift::examine) << row.name;
      EXPECT_NE(found, Drift::read) << row.name;
    }
  }
  EXPECT_EQ(drift({7}, not_shown(Presence::absent), {}, this_agent), Drift::apply);
}

TEST(Fence, StopsWhatMayBeLater) {
  EXPECT_EQ(fence({2, 10}, this_agent), Drift::none);
  EXPECT_EQ(fence({2, 11}, this_agent), Drift::made_later);
  EXPECT_EQ(fence({1, 9}, this_agent), Drift::none) << "the store has lost it";
  EXPECT_EQ(fence({3, 1}, this_agent), Drift::unplaced);
  EXPECT_EQ(fence({0, 99}, this_agent), Drift::none) << "it names no incarnation";
}

}  // namespace
}  // namespace davit::applier
