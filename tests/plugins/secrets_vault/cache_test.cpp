// Every file in cache/ is one story. It holds three entries or four pages, for 1000 ms. `put K`
// keeps a value, `put K 9000` one of so many bytes; `find K` prints it.
#include "secret_store/cache.hpp"

#include <gtest/gtest.h>
#include <davit/testing/scenario.hpp>
#include <sstream>

namespace davit::secrets_vault {
namespace {

using namespace secret_store;

using namespace std::chrono_literals;

class CacheCommands {
 public:
  std::string run(const std::string& line) {
    std::istringstream words(line);
    std::string command, name;
    words >> command >> name;
    const ItemKey key = item_key("e", name);
    if (command == "find") {
      const Cache::Kept* found = cache_.find(key, now_);
      if (found == nullptr) return "-\n";
      const std::string value(found->value.view());
      return value.substr(0, value.find('.')) + "\n";
    }
    if (command == "entries") return std::to_string(cache_.entries()) + "\n";
    if (command == "next") {
      const auto next = cache_.next_expiry();
      return (next == Cache::Time::max() ? "-" : std::to_string(next / 1ms)) + "\n";
    }
    if (command == "put") {
      size_t size = 0;
      std::string value = "value of " + name;
      if (words >> size) value.resize(size, '.');
      cache_.put(key, Secret(value), now_);
    } else if (command == "at") {
      now_ = std::chrono::milliseconds(std::stoll(name));
    } else if (command == "expire") {
      cache_.expire(now_);
    } else {
      throw std::runtime_error("unknown command");
    }
    return {};
  }

 private:
  Cache cache_{{1000ms, 3, 4 * static_cast<size_t>(sysconf(_SC_PAGESIZE))}};
  Cache::Time now_{0};
};

class CacheStory : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(CacheStory, GoesAsTold) {
  CacheCommands commands;
  EXPECT_EQ(testing::play(GetParam(), [&](const std::string& line) { return commands.run(line); }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Files, CacheStory,
                         ::testing::ValuesIn(testing::stories(TEST_FOLDER "/cache")),
                         testing::StoryName());

TEST(Cache, KeepsNothingWhenItIsTurnedOff) {
  for (const Cache::Limits& limits :
       {Cache::Limits{0ms, 10, 1 << 20}, {1000ms, 0, 1 << 20}, {1000ms, 10, 0}}) {
    Cache cache(limits);
    cache.put(item_key("e", "a"), Secret("value"), 0ms);
    EXPECT_EQ(cache.entries(), 0u);
  }
}

TEST(ItemKey, TellsKeyringsFromCiphertexts) {
  EXPECT_NE(item_key("ab", "c"), item_key("a", "bc"));
  EXPECT_EQ(item_key("ab", "c"), item_key("ab", "c"));
}

}  // namespace
}  // namespace davit::secrets_vault
