#include "controller/picture.hpp"

#include <gtest/gtest.h>

namespace davit::controller {
namespace {

// A cache of one object.
struct One {
  Picture picture;
  Picture::Mark mark = picture.begin();
  std::string known;  // the version that is kept; empty: none

  bool shown(const std::string& version) {
    picture.passed(version);
    return take(picture.shows(mark, known, version), version);
  }
  bool written(const std::string& version) {
    return take(picture.writes(mark, known, version), version);
  }
  // The list ends. Whether the object is in it.
  bool kept_at(const char* version) {
    picture.passed(version);
    const bool lost = picture.lost(mark, known);
    picture.synced();
    return !lost;
  }

 private:
  bool take(bool counts, const std::string& version) {
    if (counts) known = version;
    return counts;
  }
};

TEST(ResourceVersions, AreComparedAsNumbers) {
  EXPECT_TRUE(not_older("100", "99"));
  EXPECT_TRUE(not_older("100", "100"));
  EXPECT_FALSE(not_older("99", "100"));
  EXPECT_TRUE(not_older("abc", "100")) << "one we cannot compare is taken for newer";
}

TEST(Picture, AStateOfBeforeAWriteDoesNotUndoIt) {
  One one;
  EXPECT_TRUE(one.shown("5"));
  EXPECT_TRUE(one.written("8"));
  EXPECT_FALSE(one.shown("7"));
  EXPECT_FALSE(one.shown("8")) << "it is known";
  EXPECT_TRUE(one.shown("9"));
  EXPECT_FALSE(one.written("8")) << "an answer that comes late";
}

TEST(Picture, KnowsWhatTheWatchHasPassed) {
  One one;
  EXPECT_FALSE(one.picture.has_passed("5"));
  one.picture.passed("7");
  EXPECT_TRUE(one.picture.has_passed("7"));
  EXPECT_FALSE(one.picture.has_passed("8"));
  EXPECT_FALSE(one.picture.has_passed("abc"));
  one.picture.restart();
  EXPECT_FALSE(one.picture.has_passed("5")) << "a restored store counts anew";
}

TEST(Picture, AListCountsWhateverItsVersionsSay) {
  One one;
  one.shown("900");
  one.picture.restart();
  EXPECT_TRUE(one.shown("500"));
  EXPECT_TRUE(one.kept_at("510"));
  EXPECT_FALSE(one.shown("499")) << "after it versions count again";
}

TEST(Picture, AListTakesBackNoWriteThatCameAfterItHadBegun) {
  One one;
  one.shown("5");
  one.picture.restart();
  EXPECT_TRUE(one.written("8"));
  EXPECT_FALSE(one.shown("5"));
  EXPECT_TRUE(one.kept_at("6"));
  EXPECT_EQ(one.known, "8");
}

TEST(Picture, WhatAListDoesNotShowIsLost) {
  One one;
  one.shown("5");
  one.picture.restart();
  EXPECT_FALSE(one.kept_at("9"));
}

TEST(Picture, ButNotWhatWasWrittenAfterIt) {
  One one;
  one.picture.restart();
  one.written("7");
  EXPECT_TRUE(one.kept_at("6"));
}

TEST(Picture, AWriteThatTheListWouldHaveIsLost) {
  One one;
  one.picture.restart();
  one.written("5");
  EXPECT_FALSE(one.kept_at("6"));
}

TEST(Picture, AListWithoutAVersionLeavesNothing) {
  One one;
  one.shown("5");
  one.written("7");
  one.picture.restart();
  EXPECT_FALSE(one.kept_at(""));
}

}  // namespace
}  // namespace davit::controller
