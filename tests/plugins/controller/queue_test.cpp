// Every file in queue/ is one story. Keys are numbers, "100-119" stands for twenty of them, and
// times are milliseconds. `take 0` prints the key that is given at 0, `take 0 x3` three of them,
// `due` when the next is due; "-" is none.
#include "controller/queue.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>

namespace davit::controller {
namespace {

class QueueCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "change") return add(words, Priority::change);
    if (command == "repair") return add(words, Priority::repair);
    if (command == "resync") return add(words, Priority::resync);
    if (command == "take") return take(words);
    if (command == "due") {
      const auto due = queue_.next_due();
      return (due ? std::to_string(due->count() / 1'000'000) : "-") + "\n";
    }
    if (command == "done") {
      const uint64_t key = number(words);
      queue_.done(key, time(words));
    } else if (command == "retry") {
      const uint64_t key = number(words);
      queue_.retry(key, time(words));
    } else if (command == "aside") {
      queue_.put_aside(number(words));
    } else if (command == "forget") {
      queue_.forget(number(words));
    } else if (command == "hasten") {
      queue_.hasten(time(words));
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  static uint64_t number(std::istringstream& words) {
    uint64_t n = 0;
    if (!(words >> n)) throw std::runtime_error("a number is missing");
    return n;
  }
  static std::chrono::milliseconds time(std::istringstream& words) {
    return std::chrono::milliseconds(number(words));
  }

  std::string add(std::istringstream& words, Priority priority) {
    const uint64_t first = number(words);
    uint64_t last = first;
    if (words.peek() == '-') {
      words.ignore();
      last = number(words);
    }
    const auto at = time(words);
    for (uint64_t key = first; key <= last; ++key) queue_.add(key, priority, at);
    return {};
  }
  std::string take(std::istringstream& words) {
    const auto at = time(words);
    int times = 1;
    if (char x = 0; words >> x) times = static_cast<int>(number(words));
    std::string out;
    for (; times > 0; --times) {
      const auto taken = queue_.take(at);
      out += (out.empty() ? "" : " ") + (taken ? std::to_string(*taken) : "-");
    }
    return out + "\n";
  }

  Queue<uint64_t> queue_;
};

class QueueStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(QueueStory, GoesAsTold) {
  QueueCommands queue;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return queue.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, QueueStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/queue")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::controller
