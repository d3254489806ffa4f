#include "commands/follower.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace davit::host {
namespace {

class FollowerTest : public testing::Test {
 protected:
  // A message of records "ID VERSION STATE"; what is printed of it, in the same form.
  using Lines = std::vector<std::string>;
  Lines take(const Lines& records, bool current = false) {
    v1::OperatorWatchResponse message;
    for (const std::string& line : records) {
      std::istringstream in(line);
      std::string id, state;
      uint64_t version = 0;
      in >> id >> version >> state;
      auto& r = *message.add_records();
      r.mutable_document()->set_kind("deployment");
      r.mutable_document()->set_region("eu");
      r.mutable_document()->set_id(id);
      r.mutable_document()->set_state(state);
      r.set_version(version);
      r.set_committed_at_unix_ms(epoch_ + static_cast<int64_t>(version));
    }
    message.set_current(current);
    Lines out;
    for (const auto& r : follower_.take(message)) {
      out.push_back(r.document().id() + " " + std::to_string(r.version()) + " " +
                    r.document().state());
    }
    return out;
  }
  Lines current(const Lines& records) { return take(records, true); }

  Follower follower_{false};
  int64_t epoch_ = 1000;
};

TEST_F(FollowerTest, PrintsWhatIsThereOnceItIsAllNamedAndThenEachChange) {
  EXPECT_EQ(take({"b 1 running", "a 2 running"}), Lines{});
  EXPECT_EQ(current({"c 3 deleted", "b 4 stopped"}), (Lines{"a 2 running", "b 4 stopped"}));
  EXPECT_EQ(take({"a 5 deleted", "c 6 running"}), (Lines{"a 5 deleted", "c 6 running"}));
}

TEST_F(FollowerTest, PrintsDeletedOnesFromTheBeginningWhenTheyAreWanted) {
  follower_ = Follower(true);
  EXPECT_EQ(current({"a 1 deleted"}), Lines{"a 1 deleted"});
}

TEST_F(FollowerTest, ASecondStreamBringsOnlyWhatChangedMeanwhileInTheOrderOfVersions) {
  current({"a 1 running", "b 2 running", "old 3 deleted", "d 4 running"});
  take({"b 5 running"});
  follower_.begin();
  EXPECT_EQ(take({"a 9 stopped", "b 5 running"}), Lines{});
  EXPECT_EQ(current({"old 3 deleted", "d 8 deleted", "new 7 running", "brief 6 deleted"}),
            (Lines{"brief 6 deleted", "new 7 running", "d 8 deleted", "a 9 stopped"}));
  follower_.begin();
  EXPECT_EQ(current({"a 9 stopped", "b 5 running", "old 3 deleted", "d 8 deleted", "new 7 running",
                     "brief 6 deleted"}),
            Lines{});
}

TEST_F(FollowerTest, AStreamThatBreaksWhileItNamesWhatIsThereCountsForNothing) {
  current({"a 1 running"});
  follower_.begin();
  EXPECT_EQ(take({"a 2 stopped"}), Lines{});
  follower_.begin();
  EXPECT_EQ(current({"a 3 running"}), Lines{"a 3 running"});
}

TEST_F(FollowerTest, WhatTheStoreDoesNotNameAnyMoreIsAbsentAndSaidOnce) {
  current({"a 1 running", "b 2 deleted"});
  follower_.begin();
  EXPECT_EQ(current({}), Lines{"a 0 absent"});
  follower_.begin();
  EXPECT_EQ(current({}), Lines{});
  EXPECT_EQ(take({"a 1 running"}), Lines{"a 1 running"}) << "the store begins anew";
}

TEST_F(FollowerTest, AVersionThatARestoredStoreGivesAgainIsNews) {
  current({"a 5 running"});
  follower_.begin();
  epoch_ = 2000;
  EXPECT_EQ(current({"a 5 running"}), Lines{"a 5 running"});
}

}  // namespace
}  // namespace davit::host
