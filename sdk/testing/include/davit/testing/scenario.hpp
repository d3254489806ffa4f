// Text scenarios: tests of a class that one tells as a story. A story is a file of commands, a line
// "----", what the commands print, an empty line, and so on. Lines that begin with "#" say why.
//
//   # A bookmark does not pass what is outstanding.
//   tail 1 0
//   offer 3 5
//   bookmark 1 9
//   show
//   ----
//   1:2
//
// The test says what a command does. `play` compares the story with what happens, or with
// DAVIT_UPDATE_GOLDEN=1 in the environment writes what happens into the file; look at the
// difference before it is committed. GoogleTest is not needed.
//
//   TEST_P(CursorStory, GoesAsTold) {
//     Commands cursor;
//     EXPECT_EQ(play(GetParam(), [&](const std::string& line) { return cursor.run(line); }), "");
//   }
//   INSTANTIATE_TEST_SUITE_P(Files, CursorStory, ::testing::ValuesIn(stories("cursor")),
//                            StoryName());
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace davit::testing {

// Carries one command out and returns what it prints: "" or whole lines, each with its end.
using Command = std::function<std::string(const std::string& line)>;

// The files in a folder, in the order of their names. Throws std::runtime_error when there is none.
std::vector<std::filesystem::path> stories(const std::filesystem::path& folder);

// The story with what is expected in it replaced by what `run` prints. What is printed is written
// at "----", so output that no "----" follows is added at the end.
std::string retell(std::string_view story, const Command& run);

// Empty when the file tells what happens. Otherwise the lines that differ. A command that throws
// ends the story, and its message is the difference.
std::string play(const std::filesystem::path& file, const Command& run);

// The lines that differ: "line 3\n- wanted\n+ found\n" and so on, about 2,000 characters of them.
std::string difference(std::string_view wanted, std::string_view found);

// Names a test case after its file, for GoogleTest's INSTANTIATE_TEST_SUITE_P.
struct StoryName {
  template <class Case>
  std::string operator()(const Case& of) const {
    return of.param.stem().string();
  }
};

}  // namespace davit::testing
