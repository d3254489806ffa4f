#include <davit/testing/scenario.hpp>

#include <fstream>

#include <gtest/gtest.h>

#include <davit/testing/temporary.hpp>

namespace davit::testing {
namespace {

// "say X" prints X, "keep" prints nothing.
std::string say(const std::string& line) {
  if (line == "keep") return {};
  if (line.starts_with("say ")) return line.substr(4) + "\n";
  throw std::runtime_error("unknown command");
}

struct Story : ::testing::Test {
  std::string played(const std::string& text) {
    std::ofstream(file) << text;
    return play(file, say);
  }
  TemporaryDirectory folder;
  std::filesystem::path file = std::filesystem::path(folder.path()) / "story.txt";
};

TEST_F(Story, GoesAsTold) {
  EXPECT_EQ(played("# why\nsay a\nkeep\nsay b\n----\na\nb\n\n# and then\nkeep\n----\n"), "");
}

TEST_F(Story, NamesTheLinesThatGoOtherwise) {
  EXPECT_EQ(played("say a\n----\nb\n"), "line 3\n- b\n+ a\n");
  EXPECT_EQ(played("say a\n----\na\nb\n"), "line 4\n- b\n+ (end)\n");
  EXPECT_EQ(played("say a\n----\n"), "line 3\n- (end)\n+ a\n");
  EXPECT_EQ(played("say a\n----\na"), "the last line has no end");
}

TEST_F(Story, DoesNotPassOverWhatNobodyExpects) {
  EXPECT_EQ(played("say a\n----\na\n\nsay b\n"), "line 6\n- (end)\n+ ----\nline 7\n- (end)\n+ b\n");
}

TEST_F(Story, NamesTheCommandThatFails) {
  EXPECT_EQ(played("say a\nsey b\n----\na\n"), "sey b: unknown command");
}

TEST_F(Story, IsNotEmptyAndThere) {
  EXPECT_EQ(played(""), "the story has no command");
  EXPECT_EQ(played("# nothing happens\n"), "the story has no command");
  EXPECT_EQ(play(folder.path() + "/none.txt", say), "cannot read " + folder.path() + "/none.txt");
}

TEST(Stories, AreReadInTheOrderOfTheirNames) {
  const TemporaryDirectory folder;
  EXPECT_THROW(stories(folder.path()), std::runtime_error);
  for (const char* name : {"b.txt", "a.txt"})
    std::ofstream(std::filesystem::path(folder.path()) / name) << "say a\n";
  const auto found = stories(folder.path());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].filename(), "a.txt");
}

TEST(Stories, AreWrittenAnewByWhatHappens) {
  EXPECT_EQ(retell("say a\n----\nb\nc\n\n# why\nsay d\n----\n", say),
            "say a\n----\na\n\n# why\nsay d\n----\nd\n");
}

}  // namespace
}  // namespace davit::testing
