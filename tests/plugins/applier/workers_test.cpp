// Which keys are given out, with a limit of two at once and four workers; a key that is out for
// longer than a second is slow. Queue, ConcurrencyLimit and Shares have tests of their own.
#include "workers.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {
using namespace std::chrono_literals;

class WorkersTest : public ::testing::Test {
 protected:
  // Takes and begins what there is; the keys that began. The tens are a key's group.
  std::string begun(Workers::Time at) {
    std::string out;
    workers.readmit(at);
    while (const auto key = workers.take(at)) {
      if (workers.begin(*key, group_of(*key), at)) out += std::to_string(*key) + " ";
    }
    return out;
  }
  void add(std::initializer_list<Workers::Key> keys) {
    for (const auto key : keys) workers.add(key, Priority::change, 0s);
  }
  void end(Workers::Key key, Workers::Time at) {
    workers.end(key, {}, workers.out(), at);
    workers.done(key, at);
  }
  static std::string group_of(Workers::Key key) { return std::to_string(key / 10); }

  Workers workers{2, 1s};
};

TEST_F(WorkersTest, GivesNoMoreThanTheLimit) {
  add({1, 2, 3});
  EXPECT_EQ(begun(0s), "1 2 ");
  EXPECT_EQ(workers.waiting(), 1u);
  end(1, 0s);
  EXPECT_EQ(begun(0s), "3 ");
}

TEST_F(WorkersTest, LetsOtherGroupsPassASlowOne) {
  add({11, 12, 13, 21});
  EXPECT_EQ(begun(0s), "11 12 ");
  EXPECT_EQ(workers.next_due(0s), 1s + Workers::Time(1)) << "then these two are slow";
  EXPECT_EQ(begun(2s), "21 ") << "13 waits for its own group";
  EXPECT_EQ(workers.waiting(), 1u);
  end(11, 2s);
  EXPECT_EQ(begun(2s), "") << "12 still counts against the group, and 21 is out";
  end(12, 2s);
  EXPECT_EQ(begun(2s), "13 ");
}

TEST_F(WorkersTest, KeepsThePriorityOfWhatWaitsForItsGroup) {
  add({11, 12});
  EXPECT_EQ(begun(0s), "11 12 ");
  workers.add(13, Priority::resync, 0s);
  EXPECT_EQ(begun(2s), "");
  workers.add(13, Priority::change, 2s);
  EXPECT_EQ(begun(2s), "") << "it waits once";
  EXPECT_EQ(workers.waiting(), 1u);
  end(11, 2s);
  end(12, 2s);
  workers.add(14, Priority::repair, 2s);
  EXPECT_EQ(begun(2s), "13 14 ");
}

TEST_F(WorkersTest, ForgetsWhatWaitsForItsGroup) {
  add({11, 12, 13});
  EXPECT_EQ(begun(0s), "11 12 ");
  EXPECT_EQ(begun(2s), "");
  workers.forget(13);
  EXPECT_EQ(workers.waiting(), 0u);
  end(11, 2s);
  end(12, 2s);
  EXPECT_EQ(begun(2s), "");
}

// A webhook that never answers keeps its group without room, while records come and go.
TEST_F(WorkersTest, KeepsNoPlaceInLineForWhatIsForgotten) {
  add({11, 12, 13});
  EXPECT_EQ(begun(0s), "11 12 ");
  EXPECT_EQ(begun(2s), "");
  const auto next = [](Workers::Key key) { return 1000 + key; };
  for (Workers::Key n = 0; n < 1000; ++n) {
    workers.add(next(n), Priority::change, 2s);
    while (const auto key = workers.take(2s)) EXPECT_FALSE(workers.begin(*key, "1", 2s));
    workers.forget(next(n));
  }
  EXPECT_EQ(workers.in_line(), 1u) << "13, which still waits";
  end(11, 3s);
  end(12, 3s);
  EXPECT_EQ(begun(3s), "13 ");
  EXPECT_EQ(workers.in_line(), 0u);
}

TEST_F(WorkersTest, GivesNothingInAPauseThatTheServerAskedFor) {
  add({1, 2});
  EXPECT_EQ(begun(0s), "1 2 ");
  const Answer busy{"apply things", 0s, 1ms, true, false, 5s};
  EXPECT_EQ(workers.end(1, {busy}, 1, 1s), 1u);
  workers.retry(1, 1s);
  EXPECT_EQ(begun(1s), "");
  EXPECT_EQ(workers.paused_until(), 6s);
  EXPECT_EQ(workers.limit(), 1u);
  end(2, 1s);
  EXPECT_EQ(workers.next_due(1s), 6s);
  EXPECT_EQ(begun(6s), "1 ");
}

TEST_F(WorkersTest, PausesNobodyForAWebhook) {
  add({1});
  EXPECT_EQ(begun(0s), "1 ");
  const Answer webhook{"apply things", 0s, 1ms, true, true, 5s};
  EXPECT_EQ(workers.end(1, {webhook}, 1, 1s), 1u);
  EXPECT_EQ(workers.paused_until(), 0s);
  EXPECT_EQ(workers.limit(), 2u);
}

}  // namespace
}  // namespace davit::applier
