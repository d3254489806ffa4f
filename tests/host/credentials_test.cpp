#include "services/credentials.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace davit::host {
namespace {

class Credentials : public testing::Test {
 protected:
  Credentials() {
    std::string pattern = (std::filesystem::temp_directory_path() / "davit-cred-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Credentials() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& content) {
    std::ofstream(folder_ + "/token", std::ios::binary) << content;
    return folder_ + "/token";
  }
  static std::string read(const std::string& path, bool sensitive = true) {
    std::string out;
    const auto r = read_credential(path, sensitive, [&](std::string_view s) { out = s; });
    return r.ok() ? "ok:" + out : r.error().message;
  }
  std::string folder_;
};

TEST_F(Credentials, AreReadAsTheyAre) {
  EXPECT_EQ(read(file("s3cret\n")), "ok:s3cret\n");
  EXPECT_EQ(read(file("")), "ok:");
  EXPECT_EQ(read(file(std::string("a\0b", 3))), std::string("ok:a\0b", 6));
}

TEST_F(Credentials, AreReadAnewEachTime) {
  const std::string path = file("one");
  EXPECT_EQ(read(path), "ok:one");
  file("two, longer");
  EXPECT_EQ(read(path), "ok:two, longer");
}

TEST_F(Credentials, AreReadWhileTheirFileGrows) {
  const std::string path = file("x");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    std::ofstream growing(path, std::ios::binary | std::ios::app);
    for (int i = 0; i < 20'000; ++i) growing << 'x' << std::flush;
    done = true;
  });
  std::string wrong;
  for (size_t last = 0; !done && wrong.empty();) {
    const std::string now = read(path);
    if (now.compare(0, 3, "ok:") != 0 || now.size() < last) wrong = now;
    last = now.size();
  }
  writer.join();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(read(path), "ok:" + std::string(20'001, 'x'));
}

TEST_F(Credentials, SayWhatIsWrong) {
  EXPECT_EQ(read("/nowhere/token"), "/nowhere/token: No such file or directory");
  EXPECT_EQ(read(folder_), folder_ + ": is not a file");
  EXPECT_EQ(read(file(std::string(credential_bytes_max, 'x'))).size(), credential_bytes_max + 3);
  const std::string large = file(std::string(credential_bytes_max + 1, 'x'));
  EXPECT_EQ(read(large), large + ": is larger than 1 MiB");
  if (::geteuid() != 0) {  // root reads everything
    const std::string closed = file("x");
    ::chmod(closed.c_str(), 0);
    EXPECT_EQ(read(closed), closed + ": Permission denied");
  }
}

}  // namespace
}  // namespace davit::host
