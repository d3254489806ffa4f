// Stories of one record that cannot be applied; times are seconds.
#include "parking.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {
using namespace std::chrono_literals;

// It is tried again after 300 s, a refused right is retried for 60 s, and changes of the objects
// are ignored for 10, 20 and then 40 s.
const Parking::Limits parking_limits{300s, 60s, {10s, 40s}};
constexpr uint64_t longest = 5'000;  // the randomness that gives the longest first wait
constexpr size_t pods_watch = 1;

Parking parked_at(std::chrono::seconds at) {
  Parking out;
  out.begin("422 Invalid", pods_watch, 7, parking_limits, at, longest);
  return out;
}

TEST(Parking, TriesAgainAfterAWhile) {
  const Parking p = parked_at(100s);
  EXPECT_EQ(p.reason(), "422 Invalid");
  EXPECT_TRUE(p.holds(399s));
  EXPECT_FALSE(p.holds(400s));
}

TEST(Parking, IsEndedByAChangeOfTheObjects) {
  Parking p = parked_at(100s);
  EXPECT_TRUE(p.heeds_changes(110s));
  p.objects_are(7, 110s);
  EXPECT_TRUE(p.holds(110s)) << "the objects are as they were";
  p.objects_are(8, 120s);
  EXPECT_FALSE(p.holds(120s));
}

TEST(Parking, IgnoresChangesForLongerWithEachParkInARow) {
  Parking p = parked_at(100s);
  EXPECT_FALSE(p.heeds_changes(109s));
  EXPECT_EQ(p.next_look(109s), 110s) << "somebody may have changed an object meanwhile";
  EXPECT_EQ(p.next_look(110s), 400s);
  p.begin("again", pods_watch, 8, parking_limits, 120s, 10'000);
  EXPECT_FALSE(p.heeds_changes(139s));
  EXPECT_TRUE(p.heeds_changes(140s));
  p.end();
  p.begin("once more", pods_watch, 9, parking_limits, 500s, longest);
  EXPECT_TRUE(p.heeds_changes(510s)) << "it was in order between";
}

TEST(Parking, HeedsNoChangeOnceItIsTriedAgain) {
  EXPECT_FALSE(parked_at(100s).heeds_changes(400s));
}

TEST(Parking, IsEndedByTheWatchOfItsObject) {
  Parking p = parked_at(100s);
  EXPECT_EQ(p.watch_works(pods_watch + 1, 200s), std::nullopt);
  EXPECT_TRUE(p.holds(200s));
  EXPECT_EQ(p.watch_works(pods_watch, 200s), 200s);
  EXPECT_FALSE(p.holds(200s));
}

TEST(Parking, WaitsWithThatIfItWasParkedJustNow) {
  Parking p = parked_at(100s);
  EXPECT_EQ(p.watch_works(pods_watch, 101s), 110s);
  EXPECT_TRUE(p.holds(109s));
}

TEST(Parking, OfARefusedRightBeginsWhenTheRefusalHasLasted) {
  Parking p;
  EXPECT_FALSE(p.refusal_parks(false, parking_limits, 100s)) << "the first one";
  p.note_right(true, 100s);
  p.note_right(true, 150s);
  EXPECT_EQ(p.patience_ends(parking_limits), 160s) << "counted from the first refusal";
  EXPECT_FALSE(p.refusal_parks(false, parking_limits, 159s));
  EXPECT_TRUE(p.refusal_parks(false, parking_limits, 160s));
  p.note_right(false, 170s);
  EXPECT_FALSE(p.refusal_parks(false, parking_limits, 180s)) << "it was granted between";
}

TEST(Parking, OfARefusedRightBeginsAtOnceIfTheRecordIsParkedOrNoPatienceIsSet) {
  EXPECT_TRUE(Parking().refusal_parks(true, parking_limits, 100s));
  EXPECT_TRUE(Parking().refusal_parks(false, {300s, 0s, {}}, 100s));
}

TEST(Parking, EndsWithItsReason) {
  Parking p = parked_at(100s);
  p.end();
  EXPECT_EQ(p.reason(), "");
}

}  // namespace
}  // namespace davit::applier
