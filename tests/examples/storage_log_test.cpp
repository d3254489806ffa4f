// The append-only file of the example storage_log: what is left of it when its end is cut or
// damaged, as a power cut does.
#include "log.hpp"

#include <gtest/gtest.h>
#include <davit/testing/temporary.hpp>

#include <fstream>

namespace acme {
namespace {

using Entries = std::vector<Log::Entry>;

class StorageLogFile : public ::testing::Test {
 protected:
  Result<Entries> read() {
    Entries out;
    Log log;
    auto opened = log.open(path_, [&](const Log::Entry& e) { out.push_back(e); });
    if (!opened.ok()) return opened.error();
    return out;
  }
  void write(const Log::Batch& batch) {
    Log log;
    ASSERT_TRUE(log.open(path_, [](const Log::Entry&) {}).ok());
    const auto appended = log.append(batch);
    ASSERT_TRUE(appended.ok()) << appended.error().message;
  }
  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void content(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  const davit::testing::TemporaryDirectory folder_;
  const std::string path_ = folder_.path() + "/store.log";
};

const Log::Entry one{"one", "", std::string("\0\n", 2)}, two{"two"}, three{"three", "3"};

TEST_F(StorageLogFile, IsReadInItsOrder) {
  write({one, two});
  write({three});
  const auto read_back = read();
  ASSERT_TRUE(read_back.ok()) << read_back.error().message;
  EXPECT_EQ(*read_back, (Entries{one, two, three}));
}

TEST_F(StorageLogFile, LosesABatchThatWasCutAndNoOther) {
  write({one});
  const std::string first = content();
  write({two, three});
  const std::string whole = content();
  for (size_t size = first.size(); size < whole.size(); ++size) {
    content(whole.substr(0, size));
    const auto cut = read();
    ASSERT_TRUE(cut.ok()) << cut.error().message;
    EXPECT_EQ(*cut, Entries{one}) << size;
    EXPECT_EQ(content(), first) << "the rest would stand before the next batch";
  }
  write({three});
  EXPECT_EQ(*read(), (Entries{one, three}));
}

TEST_F(StorageLogFile, LosesALastBatchWhoseBytesDidNotReachTheDisk) {
  write({one});
  const std::string first = content();
  write({two});
  std::string zeroed = content();
  std::fill(zeroed.begin() + static_cast<ptrdiff_t>(first.size()) + 8, zeroed.end(), '\0');
  content(zeroed);
  EXPECT_EQ(*read(), Entries{one});
}

TEST_F(StorageLogFile, IsRefusedWhenItIsDamagedBeforeItsEnd) {
  write({one});
  const size_t inside = content().size() - 1;
  write({two});
  std::string damaged = content();
  damaged[inside] ^= 1;
  content(damaged);
  const auto refused = read();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::data_loss);
  EXPECT_EQ(content(), damaged) << "nothing was cut";
}

TEST_F(StorageLogFile, BelongsToOneProcessAtATime) {
  Log first;
  ASSERT_TRUE(first.open(path_, [](const Log::Entry&) {}).ok());
  EXPECT_EQ(read().error().code, Code::unavailable);
}

}  // namespace
}  // namespace acme
