#include "repairs.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

using namespace std::chrono_literals;
using RepairTime = Repairs::Time;

const Repairs::Limits repair_limits{{100ms, 60s}, 300s, 5};
const Repair one_repair{"p", "replicasets.apps acme/web", "field manager \"kubectl\""};

TEST(Repairs, TheFirstIsImmediateAndEachNextOneWaitsLonger) {
  Repairs repairs;
  RepairTime now = 10s;
  int done = 0;
  // Somebody changes the object all the time.
  for (const RepairTime end = now + 20s; now < end; now += 10ms) {
    if (repairs.wait("p", now).count() > 0) continue;
    repairs.note(one_repair, repair_limits, now, 0);
    ++done;
  }
  EXPECT_GE(done, 7);
  EXPECT_LE(done, 10);
}

TEST(Repairs, NeverWaitLongerThanTheLimit) {
  Repairs repairs;
  RepairTime now = 0s;
  for (int i = 0; i < 100; ++i) {
    repairs.note(one_repair, repair_limits, now, ~uint64_t{0});
    EXPECT_LE(repairs.wait("p", now), 60s);
    now += repairs.wait("p", now);
  }
}

TEST(Repairs, AnotherObjectIsAnotherMatter) {
  Repairs repairs;
  repairs.note(one_repair, repair_limits, 10s, 0);
  EXPECT_GT(repairs.wait("p", 10s), 0s);
  EXPECT_EQ(repairs.wait("q", 10s), 0s);
}

TEST(Repairs, PeopleAreToldOfWhoKeepsChangingIt) {
  Repairs repairs;
  for (uint32_t i = 0; i < repair_limits.warn_after; ++i) {
    EXPECT_EQ(repairs.contested(repair_limits), "");
    repairs.note(one_repair, repair_limits, 10s, 0);
  }
  EXPECT_EQ(repairs.contested(repair_limits),
            "field manager \"kubectl\" keeps changing replicasets.apps acme/web: it is put right "
            "again, at growing intervals");
}

// As long as nobody is told of a fight a repair is a matter of seconds.
TEST(Repairs, NobodyWaitsForLongUntold) {
  Repairs repairs;
  RepairTime now = 10s;
  for (int i = 0; i < 20; ++i) {
    repairs.note(one_repair, repair_limits, now, ~uint64_t{0});
    const RepairTime wait = repairs.wait("p", now);
    if (wait > 2s) {
      EXPECT_NE(repairs.contested(repair_limits), "");
    }
    now += wait + 5s;
  }
}

TEST(Repairs, AreForgottenWhenNobodyChangesTheObjectForAWhile) {
  Repairs repairs;
  for (int i = 0; i < 6; ++i) repairs.note(one_repair, repair_limits, 10s, 0);
  repairs.forget(repair_limits, 10s + 300s);
  EXPECT_NE(repairs.contested(repair_limits), "");
  repairs.forget(repair_limits, 20s + 300s);
  EXPECT_TRUE(repairs.empty());
  EXPECT_EQ(repairs.wait("p", 320s), 0s);
}

}  // namespace
}  // namespace davit::applier
