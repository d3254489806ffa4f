#include <gtest/gtest.h>

#include "text_table.hpp"

namespace davit::host {
namespace {

TEST(TextTable, ColumnsLineUp) {
  TextTable t({"ID", "STATE", "WHY"});
  t.row({"d_1", "running", ""});
  t.row({"d_22222", {"x", Tone::bad}, "because"});
  EXPECT_EQ(t.print(false),
            "ID       STATE    WHY\n"
            "d_1      running\n"
            "d_22222  x        because\n");
}

TEST(TextTable, GoesOnInTheSameColumns) {
  TextTable t({"ID", "STATE"});
  t.row({"d_1", "running"});
  EXPECT_EQ(t.print(false), "ID   STATE\nd_1  running\n");
  t.row({"d", "deleted"});
  t.row({"d_22222", "running"});
  EXPECT_EQ(t.print(false), "d        deleted\nd_22222  running\n");
  t.row({"d_1", "running"});
  EXPECT_EQ(t.print(false), "d_1      running\n");
}

TEST(TextTable, ColourDoesNotMoveColumns) {
  TextTable t({"A", "B"});
  t.row({{"x", Tone::good}, "y"});
  EXPECT_EQ(t.print(true), "A  B\n\033[32mx\033[0m  y\n");
}

TEST(TextTable, LettersOutsideOfAsciiCountOnce) {
  TextTable t({"A", "B"});
  t.row({"größe", "y"});
  t.row({"abcde", "y"});
  EXPECT_EQ(t.print(false), "A      B\ngröße  y\nabcde  y\n");
}

TEST(TextTable, ControlCharactersOfOthersStayOut) {
  TextTable t({"A"});
  t.row({"a\033[2Jb\nc"});
  EXPECT_EQ(t.print(true), "A\na [2Jb c\n");
}

TEST(TextTable, LeavesSpareColumnsOutWhenThereIsNoRoom) {
  const auto printed = [](size_t room) {
    TextTable t({"ID", {"VERSION", 2}, {"STALE", 1}, "HEALTH"});
    t.row({"d_1", "12", "0", "healthy"});
    return t.print(false, room);
  };
  EXPECT_EQ(printed(0), "ID   VERSION  STALE  HEALTH\nd_1  12       0      healthy\n");
  EXPECT_EQ(printed(28), printed(0));
  EXPECT_EQ(printed(27), "ID   VERSION  HEALTH\nd_1  12       healthy\n");
  EXPECT_EQ(printed(15), "ID   HEALTH\nd_1  healthy\n");
}

TEST(TextTable, LeavesASpareColumnOutRatherThanCutIt) {
  TextTable t({"MODULE", {"FILE", 1}}, TextTable::Last::wrapped);
  t.row({"desired", "/usr/lib/davit/plugins/desired.so"});
  EXPECT_EQ(t.print(false, 40), "MODULE\ndesired\n");
}

TEST(TextTable, CutsTheLongestWhereThereIsNoRoomByLetters) {
  TextTable t({"ID", "NAME"});
  t.row({"d_größe_größe_größe", "shop/a"});
  EXPECT_EQ(t.print(false, 18), "ID          NAME\nd_größe_g…  shop/a\n");
}

TEST(TextTable, WrapsALastColumnThatMustBeReadWhole) {
  TextTable t({"ID", "REASON"}, TextTable::Last::wrapped);
  t.row({"d_1", "pods: 403 Forbidden for the-account-of-the-agent"});
  t.row({"d_2", ""});
  EXPECT_EQ(t.print(false, 24),
            "ID   REASON\n"
            "d_1  pods: 403 Forbidden\n"
            "     for\n"
            "     the-account-of-the-\n"
            "     agent\n"
            "d_2\n");
}

TEST(TextTable, KeepsItsColumnsWhenItGoesOn) {
  TextTable t({"ID", {"VERSION", 1}, "STATE"});
  t.row({"d_1", "1", "running"});
  EXPECT_EQ(t.print(false, 18), "ID   STATE\nd_1  running\n");
  t.row({"d_22222222222", "2", "x"});
  EXPECT_EQ(t.print(false, 18), "d_222222…  x\n");
}

TEST(TextTable, WithoutHeadingsHasNoLineOfThem) {
  TextTable t({"", ""});
  t.row({"a", "b"});
  EXPECT_EQ(t.print(false), "a  b\n");
}

TEST(Age, GrowsCoarserWithTime) {
  EXPECT_EQ(age(0, 1000), "-");
  EXPECT_EQ(age(1000, 6000), "5s");
  EXPECT_EQ(age(6000, 1000), "0s");
  EXPECT_EQ(age(1, 600'001), "10m");
  EXPECT_EQ(age(1, 4 * 3'600'000LL), "3h");
  EXPECT_EQ(age(1, 3 * 86'400'000LL + 1), "3d");
}

}  // namespace
}  // namespace davit::host
