// Every file in cursor/ is one story. `show` prints what is committed, `ask` what a new stream
// would ask for, both as "incarnation:version".
#include "cursor.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

namespace davit::watcher {
namespace {

class CursorCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    uint64_t version = 0;
    if (command == "snapshot") {
      cursor_.begin(true, position(words));
    } else if (command == "tail") {
      cursor_.begin(false, position(words));
    } else if (command == "plain") {
      cursor_.begin_without_bookmarks();
    } else if (command == "offer") {
      while (words >> version) cursor_.offered(Version(version));
    } else if (command == "settle") {
      while (words >> version) cursor_.settled(Version(version));
    } else if (command == "bookmark") {
      cursor_.bookmark(position(words), false);
    } else if (command == "end") {
      cursor_.bookmark(position(words), true);
    } else if (command == "close") {
      cursor_.closed_clean();
    } else if (command == "refused") {
      cursor_.refused();
    } else if (command == "show") {
      return text(cursor_.committed());
    } else if (command == "ask") {
      return text(cursor_.received());
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  static Position position(std::istringstream& words) {
    uint64_t incarnation = 0, version = 0;
    if (!(words >> incarnation >> version)) throw std::runtime_error("no position");
    return {Incarnation(incarnation), Version(version)};
  }
  static std::string text(const Position& p) {
    return to_string(p.incarnation) + ":" + to_string(p.version) + "\n";
  }

  Cursor cursor_;
};

class CursorStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(CursorStory, GoesAsTold) {
  CursorCommands cursor;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return cursor.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, CursorStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/cursor")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::watcher
