#include "rpc/connect/gzip.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace davit::host {
namespace {

constexpr size_t plenty = 64 << 20;

std::string noise(size_t size) {
  std::mt19937 random(7);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

// What another program made: printf hello | gzip -n9.
const std::string hello(
    "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);

TEST(Gzip, ComesBackAsItWas) {
  for (const size_t size : {0, 1, 5, 16383, 16384, 16385, 1 << 20}) {
    for (const std::string& text : {std::string(size, 'a'), noise(size)}) {
      const auto back = gunzip(gzip(text), size);
      ASSERT_TRUE(back.ok()) << size << ": " << back.error().message;
      EXPECT_EQ(*back == text, true) << size;
    }
  }
}

TEST(Gzip, MakesLessOfWhatRepeats) {
  EXPECT_LT(gzip(std::string(100'000, 'a')).size(), 1'000u);
}

TEST(Gunzip, ReadsWhatOthersMake) {
  const auto text = gunzip(hello, 5);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(*text, "hello");
}

TEST(Gunzip, ReadsAHeaderWithANameInIt) {
  std::string named = hello;
  named[3] = '\x08';  // FNAME
  named.insert(10, std::string("a.txt\0", 6));
  EXPECT_EQ(*gunzip(named, 5), "hello");
}

TEST(Gunzip, StopsAtTheLimit) {
  for (const size_t size : {1, 5, 16383, 16384, 16385, 1 << 20}) {
    const std::string packed = gzip(std::string(size, 'a'));
    EXPECT_TRUE(gunzip(packed, size).ok()) << size;
    const auto less = gunzip(packed, size - 1);
    ASSERT_FALSE(less.ok()) << size;
    EXPECT_EQ(less.error().code, Code::resource_exhausted) << size;
  }
  EXPECT_TRUE(gunzip(gzip(""), 0).ok());
}

TEST(Gunzip, ABombIsRefusedWhateverFollowsIt) {
  const std::string bomb = gzip(std::string(plenty, '\0'));
  ASSERT_LT(bomb.size(), plenty / 900);
  for (const std::string& bytes : {bomb, bomb + "x", bomb.substr(0, bomb.size() - 8)}) {
    const auto out = gunzip(bytes, 1'000);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, Code::resource_exhausted);
    EXPECT_EQ(out.error().message, "more than 1000 bytes when uncompressed");
  }
}

TEST(Gunzip, WhatIsCutShortIsRefusedWhereverItIsCut) {
  for (const std::string& whole : {hello, gzip(noise(20'000)), gzip(std::string(100'000, 'a'))}) {
    for (size_t n = 0; n < whole.size(); ++n) {
      const auto out = gunzip(std::string_view(whole).substr(0, n), plenty);
      ASSERT_FALSE(out.ok()) << n;
      ASSERT_EQ(out.error().code, Code::invalid_argument) << n;
      ASSERT_EQ(out.error().message, "not gzip: cut short") << n;
    }
  }
}

TEST(Gunzip, OneMemberIsAllThereMayBe) {
  for (const std::string& rest :
       {std::string("x"), std::string(1, '\0'), hello, std::string(9, 0)}) {
    const auto out = gunzip(hello + rest, plenty);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, Code::invalid_argument);
    EXPECT_EQ(out.error().message, "not gzip: followed by something");
  }
}

TEST(Gunzip, OtherBytesAreRefused) {
  std::string zlib_format("\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x15", 13);
  std::string no_such_method = hello, reserved_flag = hello, checksum = hello, length = hello;
  no_such_method[2] = '\x07';
  reserved_flag[3] = '\x20';
  checksum[hello.size() - 8] ^= 1;
  length[hello.size() - 4] ^= 1;
  const std::map<std::string, std::string> table = {{"text", "hello, world"},
                                                    {"zlib", zlib_format},
                                                    {"bare deflate", hello.substr(10)},
                                                    {"method", no_such_method},
                                                    {"reserved flag", reserved_flag},
                                                    {"checksum", checksum},
                                                    {"length", length},
                                                    {"zeros", std::string(100, '\0')}};
  for (const auto& [what, bytes] : table) {
    const auto out = gunzip(bytes, plenty);
    ASSERT_FALSE(out.ok()) << what;
    EXPECT_EQ(out.error().code, Code::invalid_argument) << what;
    EXPECT_TRUE(out.error().message.starts_with("not gzip: ")) << out.error().message;
  }
}

TEST(Gunzip, EveryFlippedBitOfTheContentIsSeen) {
  // From the content on, but for the bits that fill its last byte: nothing checks those, nor the
  // header's time and system.
  for (size_t bit = 80; bit < hello.size() * 8; ++bit) {
    if (bit >= 130 && bit < 136) continue;
    std::string bytes = hello;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    const auto out = gunzip(bytes, plenty);
    EXPECT_FALSE(out.ok()) << bit;
  }
}

}  // namespace
}  // namespace davit::host
