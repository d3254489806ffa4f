// Stories: one command a line, "----", what the cursor says after each `show`.
#include "cursor.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace davit::watcher {
namespace {

std::string tell(const std::string& story) {
  Cursor cursor;
  std::istringstream in(story);
  std::string line, out;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string command;
    uint64_t a = 0, b = 0;
    words >> command;
    if (command == "snapshot") {
      words >> a >> b;
      cursor.begin(true, {a, b});
    } else if (command == "tail") {
      words >> a >> b;
      cursor.begin(false, {a, b});
    } else if (command == "plain") {
      cursor.begin_without_bookmarks();
    } else if (command == "offer") {
      while (words >> a) cursor.offered(a);
    } else if (command == "settle") {
      while (words >> a) cursor.settled(a);
    } else if (command == "bookmark") {
      words >> a >> b;
      cursor.bookmark({a, b}, false);
    } else if (command == "end") {
      words >> a >> b;
      cursor.bookmark({a, b}, true);
    } else if (command == "close") {
      cursor.closed_clean();
    } else if (command == "refused") {
      cursor.refused();
    } else if (command == "show" || command == "ask") {
      const Position p = command == "show" ? cursor.committed() : cursor.received();
      out += std::to_string(p.incarnation) + ":" + std::to_string(p.version) + "\n";
    } else if (!command.empty()) {
      ADD_FAILURE() << "unknown command " << command;
    }
  }
  return out;
}

TEST(Cursor, CommitsNothingInASnapshotBeforeItsEnd) {
  EXPECT_EQ(tell("snapshot 1 9\n offer 3 5 9\n settle 3 5 9\n show\n bookmark 1 9\n show\n end 1 "
                 "9\n show\n"),
            "0:0\n0:0\n1:9\n");
}

TEST(Cursor, TakesACleanCloseForTheEndOfASnapshot) {
  EXPECT_EQ(tell("snapshot 1 9\n offer 3 5\n settle 3 5\n show\n close\n show\n"), "0:0\n1:5\n");
}

TEST(Cursor, HoldsVersionUntilEarlierOnesAreApplied) {
  EXPECT_EQ(tell("tail 1 0\n offer 3 5 9\n settle 9\n show\n settle 5\n show\n settle 3\n show\n"),
            "1:2\n1:2\n1:9\n");
}

TEST(Cursor, HoldsTheSnapshotsEndUntilAllOfItIsApplied) {
  EXPECT_EQ(tell("snapshot 1 9\n offer 3 5 9\n settle 5\n end 1 12\n show\n settle 3\n show\n "
                 "settle 9\n show\n"),
            "1:2\n1:8\n1:12\n");
}

TEST(Cursor, MovesWithABookmarkWhenNothingIsOutstanding) {
  EXPECT_EQ(
      tell(
          "tail 1 0\n bookmark 1 40\n show\n offer 41\n bookmark 1 50\n show\n settle 41\n show\n"),
      "1:40\n1:40\n1:50\n");
}

TEST(Cursor, AsksWithAllThatCame) {
  // A store that was restored to version 11 refuses 12, and would go on after 9.
  EXPECT_EQ(tell("snapshot 1 9\n ask\n end 1 9\n ask\n offer 10 12\n settle 12\n show\n ask\n"),
            "0:0\n1:9\n1:9\n1:12\n");
}

TEST(Cursor, AsksForASnapshotUntilOneHasEnded) {
  EXPECT_EQ(tell("snapshot 1 9\n end 1 9\n refused\n ask\n snapshot 2 4\n offer 3\n ask\n"),
            "0:0\n0:0\n");
}

TEST(Cursor, FollowsAServerThatStartedAgain) {
  // The server found our position in its chain: no snapshot, the position gets the new name.
  EXPECT_EQ(tell("snapshot 1 9\n end 1 9\n tail 2 9\n show\n offer 10\n settle 10\n show\n"),
            "2:9\n2:10\n");
}

TEST(Cursor, StartsFromNothingWhenItsPositionIsVoid) {
  EXPECT_EQ(tell("snapshot 1 9\n end 1 9\n refused\n show\n snapshot 2 4\n offer 4\n end 2 4\n "
                 "settle 4\n show\n"),
            "0:0\n2:4\n");
}

TEST(Cursor, DoesNotTakeAnOldHistorysVersionForItsOwn) {
  // 500 was offered before the history changed and is settled after: it says nothing about the new
  // one.
  EXPECT_EQ(tell("tail 1 0\n offer 500\n refused\n snapshot 2 4\n offer 4\n end 2 4\n settle 4\n "
                 "show\n settle 500\n show\n"),
            "2:4\n2:4\n");
}

TEST(Cursor, CountsAVersionThatWasOfferedTwice) {
  EXPECT_EQ(
      tell("tail 1 0\n offer 7\n tail 1 0\n offer 7 8\n settle 8 7\n show\n settle 7\n show\n"),
      "1:6\n1:8\n");
}

TEST(Cursor, FollowsAppliesAloneWithoutBookmarks) {
  EXPECT_EQ(tell("plain\n offer 3 5\n settle 3\n show\n settle 5\n show\n"), "0:4\n0:5\n");
}

TEST(Cursor, IgnoresWhatWasNeverOffered) {
  EXPECT_EQ(tell("tail 1 0\n settle 99\n show\n"), "1:0\n");
}

}  // namespace
}  // namespace davit::watcher
