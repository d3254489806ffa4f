// The append-only file of the storage in C that `davit plugin new` writes: what is left of it when
// its end is cut, as a kill does, or when a byte of it is damaged.
extern "C" {
#include "log.h"
}

#include <gtest/gtest.h>
#include <davit/testing/temporary.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace davit {
namespace {

using Batches = std::vector<std::string>;

class TemplateLog : public ::testing::Test {
 protected:
  TemplateLog() { log_.file = -1; }
  ~TemplateLog() override { log_close(&log_); }

  // What is in the file; `code_` says how it went.
  Batches open() {
    Batches out;
    error_ = {};
    log_close(&log_);
    code_ = log_open(&log_, path_.c_str(), &keep, &out, &error_);
    return out;
  }
  Batches read() {
    Batches out = open();
    log_close(&log_);
    return out;
  }
  // The size of the file behind each batch.
  std::vector<size_t> write(const Batches& batches) {
    std::vector<size_t> ends;
    open();
    EXPECT_EQ(code_, DAVIT_OK) << error_.message;
    for (const std::string& batch : batches) {
      EXPECT_EQ(log_append(&log_, batch.data(), batch.size(), &error_), DAVIT_OK);
      ends.push_back(log_.end);
    }
    log_close(&log_);
    return ends;
  }
  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void content(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  const testing::TemporaryDirectory folder_;
  const std::string path_ = folder_.path() + "/store.log";
  log_file log_{};
  davit_error error_{};
  int32_t code_ = DAVIT_OK;

 private:
  static int32_t keep(void* ctx, davit_str batch, davit_error*) {
    static_cast<Batches*>(ctx)->emplace_back(batch.ptr, batch.len);
    return DAVIT_OK;
  }
};

const std::string one("\0one\n", 5), two = "two", three(5000, '3');

TEST_F(TemplateLog, IsReadInItsOrder) {
  write({one, two});
  write({three});
  EXPECT_EQ(read(), (Batches{one, two, three}));
}

TEST_F(TemplateLog, LosesABatchThatWasCutAndNoOther) {
  const size_t kept = write({one, two}).front();
  const std::string whole = content();
  for (size_t size = kept; size < whole.size(); ++size) {
    content(whole.substr(0, size));
    EXPECT_EQ(read(), Batches{one}) << size;
    ASSERT_EQ(content(), whole.substr(0, kept)) << "the rest would stand before the next batch";
  }
  write({three});
  EXPECT_EQ(read(), (Batches{one, three}));
}

TEST_F(TemplateLog, BeginsAnewWhenItsFirstLineWasCut) {
  write({});
  const std::string whole = content();
  for (size_t size = 0; size < whole.size(); ++size) {
    content(whole.substr(0, size));
    EXPECT_EQ(read(), Batches());
    ASSERT_EQ(content(), whole) << size;
  }
}

// Every byte: also those of a length, which would hide all that follows.
TEST_F(TemplateLog, IsRefusedWhenItIsDamagedBeforeItsLastBatch) {
  write({});
  const size_t begin = content().size(), last = write({one, two}).front();
  const std::string whole = content();
  for (size_t at = begin; at < last; ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x55;
    content(damaged);
    read();
    EXPECT_EQ(code_, DAVIT_DATA_LOSS) << at;
    ASSERT_EQ(content(), damaged) << "nothing was cut";
  }
}

TEST_F(TemplateLog, LosesALastBatchWhoseBytesDidNotReachTheDisk) {
  const size_t kept = write({one, two}).front();
  const std::string whole = content();
  for (size_t at = kept; at < whole.size(); ++at) {
    std::string zeroed = whole;
    std::fill(zeroed.begin() + static_cast<ptrdiff_t>(at), zeroed.end(), '\0');
    content(zeroed);
    EXPECT_EQ(read(), Batches{one}) << at;
  }
}

// A payload may be a copy of a log.
TEST_F(TemplateLog, TakesNoBatchInsideATailForOneThatFollows) {
  write({one});
  const std::string copy = content();
  const size_t kept = copy.size();
  write({copy + copy});
  content(content().substr(0, content().size() - 1));
  EXPECT_EQ(read(), Batches{one});
  EXPECT_EQ(content().size(), kept);
}

TEST_F(TemplateLog, LeavesAnotherFileAlone) {
  const std::string mine = "a file of somebody else";
  content(mine);
  read();
  EXPECT_EQ(code_, DAVIT_FAILED_PRECONDITION);
  EXPECT_NE(std::string(error_.message).find(path_), std::string::npos) << error_.message;
  EXPECT_EQ(content(), mine);
}

TEST_F(TemplateLog, BelongsToOneProcessAtATime) {
  open();
  log_file second{};
  Batches batches;
  const auto none = [](void*, davit_str, davit_error*) -> int32_t { return DAVIT_OK; };
  EXPECT_EQ(log_open(&second, path_.c_str(), none, &batches, &error_), DAVIT_UNAVAILABLE);
  EXPECT_NE(std::string(error_.message).find("another process has it open"), std::string::npos);
  EXPECT_EQ(log_append(&log_, one.data(), one.size(), &error_), DAVIT_OK) << "it goes on";
  EXPECT_EQ(read(), Batches{one});
}

}  // namespace
}  // namespace davit
