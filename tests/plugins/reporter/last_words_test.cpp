#include "last_words.hpp"

#include <gtest/gtest.h>

namespace davit::reporter {
namespace {

constexpr size_t no_limit = 1 << 20;

Status word_of(const std::string& id, Epoch epoch, uint64_t sequence, bool gone = false) {
  Status s;
  s.key = {"deployment", "eu", id};
  s.epoch = epoch;
  s.sequence = sequence;
  s.gone = gone;
  return s;
}

void say(LastWords& words, const std::vector<Status>& batch) {
  words.sending(batch);
  words.ended(true);
}

std::string listed(const std::vector<Status>& all) {
  std::string out;
  for (const auto& s : all) out += s.key.id + std::to_string(s.sequence) + " ";
  return out;
}

std::string below(const LastWords& words, Epoch epoch, size_t most = 100) {
  std::vector<Status> out;
  words.add_below(epoch, most, no_limit, out);
  return listed(out);
}

TEST(LastWords, AreTheLatestOfEachKey) {
  LastWords words(10, 10);
  say(words, {word_of("a", 7, 1), word_of("b", 7, 2)});
  say(words, {word_of("a", 7, 3)});
  EXPECT_EQ(words.size(), 2u);
  EXPECT_EQ(below(words, 8), "b2 a3 ");
  EXPECT_FALSE(words.has_below(7)) << "all were said with our epoch";
}

TEST(LastWords, WhatWasNotTakenIsNone) {
  LastWords words(10, 10);
  words.sending({word_of("a", 7, 1)});
  words.ended(false);
  EXPECT_EQ(words.size(), 0u);
}

TEST(LastWords, WhatIsSaidAgainIsBelowNoMore) {
  LastWords words(10, 10);
  say(words, {word_of("a", 7, 1), word_of("b", 7, 2)});
  EXPECT_EQ(below(words, 9, 1), "a1 ");
  say(words, {word_of("a", 9, 1)});
  EXPECT_EQ(below(words, 9, 1), "b2 ");
  say(words, {word_of("b", 9, 2)});
  EXPECT_FALSE(words.has_below(9));
}

TEST(LastWords, ABatchGetsNoKeyTwice) {
  LastWords words(10, 10);
  say(words, {word_of("a", 7, 1), word_of("b", 7, 2)});
  std::vector<Status> batch{word_of("a", 0, 3)};
  words.add_below(9, 100, no_limit, batch);
  EXPECT_EQ(listed(batch), "a3 b2 ");
}

TEST(LastWords, AreUnconfirmedUntilAQuestionThatCameAfterThemIsAnswered) {
  LastWords words(10, 10);
  say(words, {word_of("a", 7, 1)});
  words.asking();
  say(words, {word_of("b", 7, 2)});
  words.confirmed();
  words.sending({word_of("c", 7, 3)});
  EXPECT_EQ(listed(words.take_unconfirmed()), "b2 c3 ");
  words.ended(false);
  EXPECT_EQ(listed(words.take_unconfirmed()), "");
}

TEST(LastWords, ForgetTheOldestWhenThereAreTooMany) {
  LastWords words(2, 1);
  say(words, {word_of("a", 7, 1), word_of("b", 7, 2), word_of("c", 7, 3)});
  say(words, {word_of("x", 7, 4, true), word_of("y", 7, 5, true)});
  EXPECT_EQ(below(words, 8), "b2 c3 y5 ") << "who is gone takes no place of who is there";
  say(words, {word_of("b", 7, 6, true)});
  EXPECT_EQ(below(words, 8), "c3 b6 ");
}

}  // namespace
}  // namespace davit::reporter
