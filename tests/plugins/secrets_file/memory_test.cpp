// What is left in this process's memory of a value, and of the key that opened it, after its call:
// nothing. The test knows them only in a disguise, so that it does not find its own copies. The
// memory of a sanitizer is too large to be searched.
#ifndef DAVIT_SANITIZED
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

constexpr size_t window_bytes = 12;  // of a value; finding as much is finding it
constexpr unsigned char disguise = 0x5a;

std::string disguised(std::string_view bytes) {
  std::string out(bytes);
  for (char& c : out) c = static_cast<char>(c ^ disguise);
  return out;
}

// Looks for any window of what is sought.
class Search {
 public:
  explicit Search(const std::vector<std::string>& sought) {
    for (const std::string& one : sought) {
      for (size_t at = 0; at + window_bytes <= one.size(); at += window_bytes) {
        windows_.push_back(one.substr(at, window_bytes));
        begins_[begin_of(one.data() + at)] = true;
      }
    }
  }

  // How often it is in all of this process's memory that it may write, apart from its own buffer.
  size_t count() const {
    size_t found = 0;
    const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      uintptr_t begin = 0, end = 0;
      std::array<char, 5> rights{};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights.data()) == 3 &&
          rights[0] == 'r' && rights[1] == 'w')
        found += count_in(memory, begin, end);
    }
    ::close(memory);
    return found;
  }

 private:
  static size_t begin_of(const char* bytes) {
    return static_cast<unsigned char>(bytes[0]) << 8 | static_cast<unsigned char>(bytes[1]);
  }
  size_t count_in(int memory, uintptr_t begin, uintptr_t end) const {
    const auto own = reinterpret_cast<uintptr_t>(buffer_.data());
    size_t found = 0;
    if (own >= begin && own < end) return 0;
    for (uintptr_t at = begin; at < end; at += buffer_.size() - window_bytes) {
      const ssize_t n = ::pread(memory, buffer_.data(), std::min<size_t>(buffer_.size(), end - at),
                                static_cast<off_t>(at));
      for (ssize_t k = 0; k < n; ++k) buffer_.data()[k] ^= disguise;
      const char* bytes = buffer_.view().data();
      for (ssize_t k = 0; k + static_cast<ssize_t>(window_bytes) <= n; ++k) {
        if (begins_[begin_of(bytes + k)]) found += count_at(bytes + k);
      }
    }
    return found;
  }
  size_t count_at(const char* bytes) const {
    return static_cast<size_t>(
        std::count_if(windows_.begin(), windows_.end(), [bytes](const std::string& window) {
          return std::memcmp(window.data(), bytes, window_bytes) == 0;
        }));
  }

  const LockedBytes buffer_{1 << 20};
  std::vector<std::string> windows_;  // in disguise, as the buffer is
  std::vector<bool> begins_ = std::vector<bool>(1 << 16);
};

// Printable, so that it can stand in JSON and base64.
LockedBytes random_text(size_t size) {
  LockedBytes out(size);
  for (size_t n = 0; n < size; ++n)
    out.data()[n] = static_cast<unsigned char>('!' + 2 + randombytes_uniform('Z' - '#'));
  for (size_t n = 0; n < size; ++n) {
    if (out.data()[n] == '\\') out.data()[n] = 'x';
  }
  return out;
}

// A key file and sealed values, made without a copy that stays.
struct Made {
  std::vector<std::string> sought;
  std::string plain, object;  // sealed
};
Made make_all(const std::string& key_file, const std::string& sealed_file) {
  Made out;
  const KeyPair pair = new_pair();
  out.sought.push_back(disguised({reinterpret_cast<const char*>(pair.secret()), 32}));
  out.sought.push_back(disguised(pair.secret_text().view().substr(secret_word.size())));
  {
    const LockedBytes lines = key_file_lines(pair, "today");
    const int file = ::open(key_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_EQ(::write(file, lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    ::close(file);
  }
  const LockedBytes plain = random_text(60), escaped = random_text(600);
  out.sought.push_back(disguised(plain.view()));
  out.sought.push_back(disguised(escaped.view()));
  out.plain = Sealed::make(pair.open(), {"prod", ""}, plain.view())->text();
  constexpr std::string_view begin = "{\"a\": \"\\n", end = "\\u0041\"}";
  LockedBytes object(begin.size() + escaped.size() + end.size());
  std::memcpy(object.data(), begin.data(), begin.size());
  std::memcpy(object.data() + begin.size(), escaped.data(), escaped.size());
  std::memcpy(object.data() + begin.size() + escaped.size(), end.data(), end.size());
  write_file(sealed_file, Sealed::make(pair.open(), {"", "db"}, object.view())->text());
  return out;
}

TEST(Memory, HoldsNothingOfAValueAndItsKeyAfterTheCall) {
  if (std::getenv("LD_BIND_NOW") == nullptr)
    GTEST_SKIP() << "the loader leaves what was in registers on the stack: set LD_BIND_NOW=1";
  const testing::TemporaryDirectory folder;
  std::filesystem::create_directories(folder.path() + "/sealed");
  const Made made = make_all(folder.path() + "/agent.key", folder.path() + "/sealed/db");
  const Life life(
      {{"key_file", folder.path() + "/agent.key"}, {"directory", folder.path() + "/sealed"}});
  ASSERT_TRUE(life.up.ok()) << life.up.error().message;
  {
    const Results results =
        life.ask({to_decrypt("prod", made.plain), to_read("db", "a"), to_read("db")});
    for (const auto& result : results) ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(disguised(results[0]->secret.view()), made.sought[2]);
    EXPECT_GE(Search({made.sought[2]}).count(), 1u) << "what is held is found";
  }
  // The plugin's own copies are wiped when the callback has returned, which has woken this thread.
  const Search all(made.sought);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  size_t left = all.count();
  while (left != 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    left = all.count();
  }
  EXPECT_EQ(left, 0u);
}

}  // namespace
}  // namespace davit::secrets_file
#endif
