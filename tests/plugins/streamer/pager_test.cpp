// The scenarios of the Pager; pager_scenario.hpp runs them.
#include "pager_scenario.hpp"

namespace davit::streamer {
namespace {

ProtocolTraits ctrl() {
  ProtocolTraits m;
  m.begins = m.bookmarks = m.has_incarnation = false;
  m.names_all_deleted = true;
  return m;
}

TEST(Pager, SnapshotNamesLiveRecordsAndEndsWithTheirNumber) {
  Scenario({}).run(R"(watch 0:0
next
head 7:20
next
----
head
begin snapshot 7:20
page from 7:0, dead after 20

page 7:9 more +a@3 +b@9
next
----
page from 7:9, dead after 20

page 7:21 +c@15 -a@21
next
next
----
snapshot end 7:21 live 2
ring from 7:21)");
}

TEST(Pager, SnapshotWithoutBookmarksOutlivesThePurgeBeforeIt) {
  Scenario(ctrl()).run(R"(watch 0:0
next
head 7:20 5
next
page 7:9 more +a@3 -b@9
next
----
head
page from 7:0, dead after 5
page from 7:9, dead after 5)");
}

TEST(Pager, SnapshotOfNothingHasBothBookmarks) {
  Scenario({}).run(R"(watch 0:0
next
head 7:0
next
page 7:0
next
next
----
head
begin snapshot 7:0
page from 7:0
snapshot end 7:0 live 0
ring from 7:0)");
}

TEST(Pager, NoBookmarkCutsASnapshot) {
  Scenario({}).run(R"(watch 0:0
next
head 7:20
next
page 7:9 more +a@9
tick
next
----
head
begin snapshot 7:20
page from 7:0, dead after 20
page from 7:9, dead after 20)");
}

TEST(Pager, HistoryThatChangedUnderASnapshotsBeginningIsAnError) {
  Scenario({}).run(R"(watch 0:0
next
head 7:20
next
page 8:12 more +a@3
----
head
begin snapshot 7:20
page from 7:0, dead after 20
error 11)");
}

TEST(Pager, TailWithinTheRingNeverReadsTheStore) {
  Scenario({}).run(R"(watch 7:15
next
frame 7:20 last
next
next
tip 7:20
next
----
ring from 7:15
begin tail 7:15
bookmark 7:20
ring from 7:20
idle)");
}

TEST(Pager, TailBehindTheRingReadsPagesUntilItIsThere) {
  Scenario({}).run(R"(watch 7:15
next
behind
next
page 7:30 more -x@30
next
page 7:40 +y@40
next
next
tip 7:41
next
----
ring from 7:15
page from 7:15
begin tail 7:15
page from 7:30
bookmark 7:40
ring from 7:40
idle)");
}

TEST(Pager, CursorOfAnOlderIncarnationGoesOnInTheNewOne) {
  Scenario({}).run(R"(watch 6:15
next
behind
next
page 7:18 +a@18
next
next
----
ring from 6:15
page from 6:15
begin tail 7:15
bookmark 7:18
ring from 7:18)");
}

TEST(Pager, IdleStreamSaysNowAndThenThatItStandsWhereItStood) {
  Scenario({}).run(R"(watch 7:15
next
tip 7:15
next
tick
next
tip 7:15
tick
next
tip 7:15
tick
next
next
tip 7:15
tick
next
----
ring from 7:15
begin tail 7:15
idle
ring from 7:15
ring from 7:15
bookmark 7:15
ring from 7:15
ring from 7:15)");
}

TEST(Pager, IdleStreamIsBookmarkedWhenOthersMovedTheStore) {
  Scenario({}).run(R"(watch 7:15
next
tip 7:15
next
woken
next
tip 7:90
next
tick
next
next
tip 7:90
next
tick
next
----
ring from 7:15
begin tail 7:15
idle
ring from 7:15
idle
bookmark 7:90
ring from 7:90
idle
ring from 7:90)");
}

TEST(Pager, BehindATailerThatIsLateItWaitsInsteadOfSpinning) {
  Scenario({}).run(R"(watch 6:15
next
behind
next
page 7:15
next
behind
next
woken
next
behind
next
----
ring from 6:15
page from 6:15
begin tail 7:15
ring from 7:15
idle
ring from 7:15
page from 7:15)");
}

TEST(Pager, ACursorAboveTheTipIsJudgedByTheStore) {
  Scenario({}).run(R"(watch 7:99
next
ahead
next
----
ring from 7:99
page from 7:99)");
}

TEST(Pager, WhoReadTheStoreBeforeTheTailerDidWaitsForIt) {
  Scenario({}).run(R"(watch 7:15
next
behind
next
page 7:40 +y@40
next
next
ahead
next
woken
next
----
ring from 7:15
page from 7:15
begin tail 7:15
bookmark 7:40
ring from 7:40
idle
ring from 7:40)");
}

TEST(Pager, WaitsForARingThatIsNotReady) {
  Scenario({}).run(R"(watch 7:15
next
unready
next
woken
next
----
ring from 7:15
idle
ring from 7:15)");
}

// What they ask with may be behind their cluster: the ring would tell them what is long over.
TEST(Pager, PeersWithoutIncarnationsGetTheCurrentOneAndTombstonesButNoBookmarks) {
  Scenario(ctrl()).run(R"(watch 0:0
next
head 7:20
next
page 7:20 +a@3 -b@9
next
tip 7:20
next
----
head
page from 7:0
ring from 7:20
idle

watch 0:5
next
head 7:20
next
page 7:20 +a@20
next
----
head
page from 7:5
ring from 7:20)");
}

// They keep their cursor whatever they are told.
TEST(Pager, APeerWithoutIncarnationsThatKnowsBookmarksIsToldThatItsCursorIsVoid) {
  ProtocolTraits traits = ctrl();
  traits.bookmarks = true;
  for (const uint64_t asked : {0, 5, 6}) {
    Pager pager(traits, {0, Version(asked)});
    EXPECT_EQ(pager.next().act, Pager::Act::read_head);
    pager.head({{7, 20}, 0, 6});
    const auto opening = pager.opening();
    EXPECT_EQ(opening.has_value(), asked == 5) << "asked with " << asked;
    if (opening) {
      EXPECT_EQ(opening->cursor.version, Version(0));
    }
  }
}

TEST(Pager, PeersWithoutIncarnationsGetEverythingAgainWhereTheStoreCannotGoOn) {
  Scenario(ctrl()).run(R"(watch 0:5
next
head 7:20 6
next
page 7:20 +a@3
next
----
head
page from 7:0, dead after 6
ring from 7:20

watch 0:21
next
head 7:20 6
next
----
head
page from 7:0, dead after 6

watch 0:6
next
head 7:20 6
next
----
head
page from 7:6)");
}

TEST(Pager, ClosesWhenDrainedAfterEverythingWasSent) {
  ProtocolTraits m = ctrl();
  m.close_when_drained = true;
  Scenario(m).run(R"(watch 0:5
next
head 7:20
next
page 7:20 +a@20
next
frame 7:21 last
next
tip 7:21
next
----
head
page from 7:5
ring from 7:20
ring from 7:21
finish)");
}

}  // namespace
}  // namespace davit::streamer
