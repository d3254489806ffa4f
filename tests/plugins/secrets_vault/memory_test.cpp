// That no plaintext stays in the memory of the process: not in ours, and not in libcurl's. The test
// never has the plaintext itself.
#ifndef DAVIT_SANITIZED  // a sanitizer's own memory is too large to be looked through

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "tls_fixture.hpp"

namespace davit::secrets_vault {
namespace {

class Memory : public Tls {
 protected:
  // A value of the Vault's. Each character of `masked` is the one before that of the plaintext.
  struct Value {
    Item item;
    std::string masked;
  };
  static Value value(VaultServer& of, size_t length) {
    const auto made =
        of.ask(R"({"do": "encrypt", "keyring": "e", "length": )" + std::to_string(length) + "}");
    Item one{DAVIT_SECRET_DECRYPT, "e", std::string(made.at("ciphertext").as_string()), {}, {}, {}};
    return {std::move(one), std::string(made.at("masked").as_string())};
  }

  static bool stands_at(const char* at, const std::string& masked) {
    for (size_t n = 0; n < masked.size(); ++n) {
      if (at[n] != masked[n] + 1) return false;
    }
    return true;
  }
  static size_t times_in(std::string_view bytes, const std::string& masked) {
    size_t found = 0;
    const char first = static_cast<char>(masked[0] + 1);
    for (size_t at = bytes.find(first); at != bytes.npos; at = bytes.find(first, at + 1)) {
      if (at + masked.size() <= bytes.size() && stands_at(bytes.data() + at, masked)) ++found;
    }
    return found;
  }
  // The same, once it is what is wanted: the plugin lets go of a value after it was told.
  static size_t times_in_memory_soon(const std::string& masked, size_t wanted) {
    const auto end = std::chrono::steady_clock::now() + patience;
    size_t found = times_in_memory(masked);
    while (found != wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(5ms);
      found = times_in_memory(masked);
    }
    return found;
  }
  // How often the first 32 characters of the plaintext stand in what this process may write.
  static size_t times_in_memory(const std::string& masked) {
    static std::vector<char> buffer(1 << 20);  // it is not looked into
    const auto own = reinterpret_cast<uintptr_t>(buffer.data());
    const std::string looked_for = masked.substr(0, 32);
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    std::ifstream maps("/proc/self/maps");
    size_t found = 0;
    for (std::string line; std::getline(maps, line);) {
      unsigned long long from = 0, to = 0;
      char rights[8] = "";
      if (std::sscanf(line.c_str(), "%llx-%llx %7s", &from, &to, rights) != 3) continue;
      if (std::string_view(rights).substr(0, 2) != "rw") continue;
      // Pieces overlap by what is looked for.
      while (from < to) {
        if (from == own) {
          from += buffer.size();
          continue;
        }
        uint64_t size = std::min<uint64_t>(buffer.size(), to - from);
        if (from < own && own < to) size = std::min<uint64_t>(size, own - from);
        const ssize_t n = pread(memory, buffer.data(), size, static_cast<off_t>(from));
        if (n > 0) found += times_in({buffer.data(), static_cast<size_t>(n)}, looked_for);
        explicit_bzero(buffer.data(), buffer.size());
        from += size;
        if (size == buffer.size()) from -= looked_for.size();
      }
    }
    close(memory);
    return found;
  }
};

TEST_F(Memory, KeepsNothingOfAValueThatIsGone) {
  Life life(config());
  for (const size_t length : {64, 3'000, 200'000}) {
    const Value one = value(vault(), length);
    {
      const auto result = life.resolve_one(one.item);
      ASSERT_TRUE(result.ok()) << told(result);
      EXPECT_EQ(times_in_memory_soon(one.masked, 1), 1u) << "the result has it, and nobody else";
    }
    EXPECT_EQ(times_in_memory_soon(one.masked, 0), 0u) << "of " << length << " characters";
  }
}

TEST_F(Memory, KeepsNothingThatCameByTls) {
  for (const char* http : {"1.1", "2"}) {
    VaultServer& server = serve(http);
    Life life(tls_config());
    for (const size_t length : {64, 3'000, 200'000}) {
      const Value one = value(server, length);
      ASSERT_TRUE(life.resolve_one(one.item).ok());
      EXPECT_EQ(times_in_memory_soon(one.masked, 0), 0u) << length << " characters, HTTP/" << http;
    }
  }
}

TEST_F(Memory, KeepsNothingOfAValueThatIsDropped) {
  Life life(config());
  const Value one = value(vault(), 64);
  behave("rename");
  ASSERT_FALSE(life.resolve_one(one.item).ok());
  EXPECT_EQ(times_in_memory_soon(one.masked, 0), 0u);
}

TEST_F(Memory, TheCacheIsWipedByAStop) {
  Life life(config({{"cache_ms", 600'000}}));
  const Value one = value(vault(), 64);
  ASSERT_TRUE(life.resolve_one(one.item).ok());
  EXPECT_EQ(times_in_memory_soon(one.masked, 1), 1u);
  ASSERT_TRUE(life.instance.stop().ok());
  EXPECT_EQ(times_in_memory_soon(one.masked, 0), 0u);
}

}  // namespace
}  // namespace davit::secrets_vault

#endif
