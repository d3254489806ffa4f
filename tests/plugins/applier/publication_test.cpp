// What is said of a record after a reconciliation.
#include "publication.hpp"

#include <gtest/gtest.h>

#include <davit/issues.hpp>

namespace davit::applier {
namespace {

using End = Report::End;

struct PublicationRow {
  const char* name;
  Intent intent;
  End end;
  Circumstances now;
  const char* condition;        // of the issue: "" ends it, "-" leaves it as it is
  const char* status;           // what of it is published: its message, or "-" for none
  const char* withheld = "no";  // "yes", "no", or "-": as before
  bool delayed = false;
  bool seen = true;  // by the reconciliation
  bool look_again = false;
};

const Circumstances in_order{false, false, true, {}};
const Circumstances keeps_failing{true, false, true, {}};
const Circumstances lives_elsewhere{false, true, true, {}};
const Circumstances blind_now{false, false, false, {}};
const Circumstances contested_now{false, false, true, "kubectl keeps changing it"};

const PublicationRow publications[] = {
    {"WhatIsDoneIsReported", Intent::apply, End::done, in_order, "", "fine"},
    {"SoIsWhatWasOnlyLookedAt", Intent::apply, End::looked, in_order, "", "fine"},
    {"OneFailureIsNoNews", Intent::apply, End::retry, in_order, "", "-", "-"},
    {"ManyFailuresAre", Intent::apply, End::retry, keeps_failing, "", "retrying: no answer"},
    {"OneDelayEndsNoIssue", Intent::apply, End::retry, in_order, "-", "-", "-", true},
    {"ManyDelaysAreAnIssue", Intent::apply, End::retry, keeps_failing, DAVIT_ISSUE_DELAYED,
     "retrying: no answer", "no", true},
    {"WhoKeepsChangingAnObjectIsNamed", Intent::apply, End::done, contested_now, issues::contested,
     "fine"},
    {"AHeldRecordHasNoStatusOfOurs", Intent::hold, End::held, in_order, DAVIT_ISSUE_HELD, "-", "-"},
    {"WhatIsNotSeenIsWithheld", Intent::apply, End::done, blind_now, "", "-", "yes"},
    {"WhatTheReconciliationDidNotSeeIsLookedAtAgain", Intent::apply, End::done, in_order, "", "-",
     "yes", false, false, true},
    {"ARecordThatLivesUnderAnotherNameIsNotGone", Intent::remove, End::done, lives_elsewhere, "",
     "-"},
    {"WhateverIsSeen", Intent::remove, End::retry, {true, true, false, {}}, "", "-"},
};

class PublicationTable : public ::testing::TestWithParam<PublicationRow> {};

TEST_P(PublicationTable, Decides) {
  const PublicationRow& row = GetParam();
  Report report;
  report.end = row.end;
  report.delayed = row.delayed;
  report.seen = row.seen;
  report.why = "no answer";
  report.status.emplace();
  report.status->message = "fine";
  RecordEntry entry;
  entry.intent = row.intent;
  const Publication p = publication(report, entry, row.now);
  EXPECT_EQ(p.issue ? p.issue->condition : "-", row.condition);
  EXPECT_EQ(p.status ? p.status->message : "-", row.status);
  EXPECT_EQ(p.withheld ? (*p.withheld ? "yes" : "no") : "-", std::string(row.withheld));
  EXPECT_EQ(p.look_again, row.look_again);
}

INSTANTIATE_TEST_SUITE_P(Table, PublicationTable, ::testing::ValuesIn(publications),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Publication, OfAParkedRecordIsItsReasonAndTheStatusOfWhatRuns) {
  Report report;
  report.end = End::looked;
  report.status.emplace();
  RecordEntry entry;
  entry.intent = Intent::apply;
  entry.state = RecordEntry::State::parked;
  entry.parking.begin("422 Invalid", Parking::no_watch, 0, {}, {}, 0);
  const Publication p = publication(report, entry, in_order);
  ASSERT_TRUE(p.issue);
  EXPECT_EQ(p.issue->condition, DAVIT_ISSUE_PARKED);
  EXPECT_EQ(p.issue->reason, "422 Invalid");
  EXPECT_TRUE(p.status);
}

TEST(Publication, SaysGoneOnlyOfADeleteThatIsDone) {
  Report report;
  report.status.emplace();
  report.status->gone = true;
  RecordEntry entry;
  for (const Intent intent : {Intent::apply, Intent::remove}) {
    for (const End end : {End::done, End::parked, End::looked}) {
      entry.intent = intent;
      report.end = end;
      const Publication p = publication(report, entry, in_order);
      ASSERT_TRUE(p.status);
      EXPECT_EQ(p.status->gone, intent == Intent::remove && end == End::done);
    }
  }
}

TEST(Publication, WithoutAStatusLeavesWhatIsWithheldAsItWas) {
  RecordEntry entry;
  entry.intent = Intent::apply;
  const Publication p = publication({}, entry, in_order);
  EXPECT_FALSE(p.status);
  EXPECT_FALSE(p.withheld);
}

}  // namespace
}  // namespace davit::applier
