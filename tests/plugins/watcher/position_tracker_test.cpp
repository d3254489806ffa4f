// Every file in position_tracker/ is one story. `show` prints what is committed, `ask` what a new
// stream would ask for, both as "incarnation:version".
#include "position_tracker.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

namespace davit::watcher {
namespace {

class TrackerCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    uint64_t version = 0;
    if (command == "snapshot") {
      tracker_.begin(true, position(words));
    } else if (command == "tail") {
      tracker_.begin(false, position(words));
    } else if (command == "plain") {
      tracker_.begin_without_bookmarks();
    } else if (command == "offer") {
      while (words >> version) tracker_.offered(Version(version));
    } else if (command == "settle") {
      while (words >> version) tracker_.settled(Version(version));
    } else if (command == "bookmark") {
      tracker_.bookmark(position(words), false);
    } else if (command == "end") {
      tracker_.bookmark(position(words), true);
    } else if (command == "close") {
      tracker_.closed_clean();
    } else if (command == "refused") {
      tracker_.refused();
    } else if (command == "show") {
      return text(tracker_.committed());
    } else if (command == "ask") {
      return text(tracker_.received());
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  static Cursor position(std::istringstream& words) {
    uint64_t incarnation = 0, version = 0;
    if (!(words >> incarnation >> version)) throw std::runtime_error("no position");
    return {Incarnation(incarnation), Version(version)};
  }
  static std::string text(const Cursor& p) {
    return to_string(p.incarnation) + ":" + to_string(p.version) + "\n";
  }

  PositionTracker tracker_;
};

class PositionTrackerStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(PositionTrackerStory, GoesAsTold) {
  TrackerCommands tracker;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return tracker.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, PositionTrackerStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/position_tracker")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::watcher
