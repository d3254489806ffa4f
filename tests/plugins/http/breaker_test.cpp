// Every file in breaker/ is one story. Times are milliseconds. It opens after 3 failures, for 1000.
// `call A` prints whether the call A goes out; `ok A`, `fail A` and `abandon A` are its end;
// `state` prints how the breaker stands, `after` how long whoever is refused is to wait.
#include "http/breaker.hpp"

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>
#include <map>
#include <sstream>

namespace davit::http {
namespace {

using namespace std::chrono_literals;

class BreakerCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command, name;
    words >> command >> name;
    if (command == "call") {
      static const char* const said[] = {"refused\n", "goes\n", "probes\n"};
      calls_[name] = breaker_.ask(now_);
      return said[static_cast<int>(calls_[name])];
    }
    if (command == "state") {
      static const char* const names[] = {"closed", "open", "half-open"};
      return std::string(names[static_cast<int>(breaker_.state(now_))]) + ", opened " +
             std::to_string(breaker_.opened()) + "\n";
    }
    if (command == "after") return std::to_string(breaker_.retry_after(now_).count()) + "\n";
    if (command == "at") {
      now_ = std::chrono::milliseconds(std::stoll(name));
    } else if (command == "ok") {
      breaker_.succeeded(calls_.at(name));
    } else if (command == "fail") {
      breaker_.failed(calls_.at(name), now_);
    } else if (command == "abandon") {
      breaker_.abandoned(calls_.at(name));
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  Breaker breaker_{{3, 1000ms}};
  Breaker::Time now_{0};
  std::map<std::string, Breaker::Permit> calls_;
};

class HttpBreakerStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(HttpBreakerStory, GoesAsTold) {
  BreakerCommands breaker;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return breaker.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, HttpBreakerStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/breaker")),
                         testing::StoryName());

}  // namespace
}  // namespace davit::http
