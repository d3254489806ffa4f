// Keys as people write them, and the files that have them.
#include "plugin_under_test.hpp"

namespace davit::secrets_file {
namespace {

std::string keys_fault(const std::string& content) {
  const auto keys = parse_keys(content);
  return keys.ok() ? "" : keys.error().message;
}

std::string secret_line(const KeyPair& pair) {
  return std::string(pair.secret_text().view());
}

TEST(Keys, SurviveTheWayThroughText) {
  const KeyPair pair = new_pair();
  const auto open = parse_public_key(pair.open().text());
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(*open, pair.open());
  const auto again = KeyPair::parse(pair.secret_text().view());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->open(), pair.open());
  EXPECT_EQ(again->secret_text().view(), pair.secret_text().view());
  EXPECT_EQ(pair.open().text().size(), key_text_size);
}

// A public key with a letter that was mistyped would seal values that nobody can open.
TEST(Keys, EachLetterThatIsAnotherOneIsNoticed) {
  const KeyPair pair = new_pair();
  for (const bool secret : {false, true}) {
    const std::string text = secret ? secret_line(pair) : pair.open().text();
    for (size_t at = 0; at < text.size(); ++at) {
      for (const char other : {'A', 'b', '/', '=', ' ', '\0'}) {
        if (text[at] == other) continue;
        std::string wrong = text;
        wrong[at] = other;
        EXPECT_FALSE(secret ? KeyPair::parse(wrong).ok() : parse_public_key(wrong).ok()) << at;
      }
    }
    for (size_t size = 0; size < text.size(); ++size)
      EXPECT_FALSE(secret ? KeyPair::parse(text.substr(0, size)).ok()
                          : parse_public_key(text.substr(0, size)).ok());
  }
}

TEST(Keys, APublicKeyIsNoPrivateOneAndTheOtherWayRound) {
  const KeyPair pair = new_pair();
  const auto wrong = KeyPair::parse(pair.open().text());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "is a public key, where a private one is needed");
  const auto other = parse_public_key(secret_line(pair));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "is a private key, where a public one is needed");
}

TEST(Keys, AFileHasCommentsEmptyLinesAndAnyLineEnds) {
  const KeyPair first = new_pair(), second = new_pair();
  const auto keys = parse_keys("# a comment\r\n\r\n  " + secret_line(first) + " \r\n\n#\n\t" +
                               secret_line(second));
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  ASSERT_EQ(keys->size(), 2u);
  EXPECT_EQ(keys->back().open(), second.open()) << "the last line has the newest";
}

TEST(Keys, AFaultNamesTheLineAndShowsNothingOfIt) {
  const std::string line = secret_line(new_pair());
  std::string damaged = line;
  damaged[40] = damaged[40] == 'A' ? 'B' : 'A';
  for (const auto& [content, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "has no key: make one with davit-seal keygen"},
           {"# nothing\n\n", "has no key: make one with davit-seal keygen"},
           {line + "\n" + damaged, "line 2: is damaged: a letter is wrong or missing"},
           {"# x\n" + line.substr(0, 50), "line 2: is damaged: a letter is wrong or missing"},
           {line + line, "line 1: is damaged: a letter is wrong or missing"},
           {"AGE-SECRET-KEY-1QQ",
            "line 1: is no private key of davit-seal: it begins with "
            "\"davitSecret/1/\""},
           {"\n" + new_pair().open().text(),
            "line 2: is a public key, where a private one is needed"}}) {
    const std::string said = keys_fault(content);
    EXPECT_EQ(said, fault);
    EXPECT_FALSE(has(said, line.substr(20, 8)));
  }
}

TEST(Keys, AFileHasSoManyKeysAndNoMore) {
  std::string content;
  for (size_t n = 0; n < keys_max; ++n) content += secret_line(new_pair()) + "\n";
  EXPECT_EQ(keys_fault(content), "");
  EXPECT_TRUE(has(keys_fault(content + secret_line(new_pair())), "has more than 64 keys"));
}

TEST(Keys, WhatKeygenWritesCanBeRead) {
  const KeyPair pair = new_pair();
  const std::string lines = key_lines(pair);
  EXPECT_TRUE(has(lines, "# public key: " + pair.open().text() + "\n"));
  const auto keys = parse_keys(lines);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->front().open(), pair.open());
}

}  // namespace
}  // namespace davit::secrets_file
