// The two messages, byte by byte, and bytes that are none.
#include "decrypt_bulk.hpp"

#include <gtest/gtest.h>

namespace davit::secrets_vault {
namespace {

using Bytes = std::string;

Bytes text_field(char tag, const Bytes& text) {
  return Bytes{tag, static_cast<char>(text.size())} + text;
}
Bytes entry_of(const Bytes& name, const Bytes& value) {
  return text_field('\x0a', text_field('\x0a', name) + text_field('\x12', value));
}
std::string shown(const Result<Decrypted>& result) {
  if (!result.ok()) return result.error().message;
  std::string out;
  for (const auto& value : result->values) out += (value ? std::string(value->view()) : "-") + "|";
  return out + (result->strangers == 0 ? "" : "+" + std::to_string(result->strangers));
}

TEST(DecryptBulk, ARequestHasTheKeyringAndNamesOfItsOwn) {
  EXPECT_EQ(item_name(0xabc, 12), "abc-12");
  EXPECT_EQ(encode_request("env", {"Y2lwaGVy", ""}, 0xf),
            text_field('\x0a', "env") +
                text_field('\x12', text_field('\x0a', "f-0") + text_field('\x12', "Y2lwaGVy")) +
                text_field('\x12', text_field('\x0a', "f-1") + text_field('\x12', "")));
}

TEST(DecryptBulk, LongTextsHaveLongLengths) {
  const std::string ciphertext(300, 'c');
  const std::string request = encode_request("e", {ciphertext}, 1);
  // 0a 01 'e', 12 <2 bytes>, 0a 03 "1-0", 12 <2 bytes> text
  EXPECT_EQ(request.size(), 3u + 3u + 5u + 3u + 300u);
  EXPECT_EQ(request.substr(3, 3), Bytes("\x12\xb4\x02", 3));
}

TEST(DecryptBulk, AnAnswerIsReadByItsNames) {
  const Bytes answer = entry_of("1-1", "second") + entry_of("1-0", "first");
  EXPECT_EQ(shown(decode_response(answer, 2, 1)), "first|second|");
  EXPECT_EQ(shown(decode_response("", 2, 1)), "-|-|");
}

TEST(DecryptBulk, AnEntryMayLackWhatIsEmpty) {
  EXPECT_EQ(shown(decode_response(text_field('\x0a', text_field('\x0a', "1-0")), 1, 1)), "|");
  EXPECT_EQ(shown(decode_response(text_field('\x0a', ""), 1, 1)), "-|+1");
}

TEST(DecryptBulk, TheLastOfTwoHolds) {
  EXPECT_EQ(shown(decode_response(entry_of("1-0", "a") + entry_of("1-0", "b"), 1, 1)), "b|");
}

TEST(DecryptBulk, WhatWasNotAskedForIsDropped) {
  for (const char* name : {"2-0", "1-1", "1-", "1-0x", "1--0", "1-99999999999999999999", "0", ""}) {
    EXPECT_EQ(shown(decode_response(entry_of(name, "a"), 1, 1)), "-|+1") << name;
  }
}

TEST(DecryptBulk, FarTooManyEntriesAreNotLookedThrough) {
  Bytes many;
  for (int n = 0; n < 1'001; ++n) many += entry_of("1-0", "a");
  EXPECT_EQ(shown(decode_response(many, 1, 1)), "a|");
  EXPECT_EQ(shown(decode_response(many + many, 1, 1)), "is no DecryptBulkResponse");
}

TEST(DecryptBulk, UnknownFieldsArePassedOver) {
  const Bytes more = Bytes("\x10\x96\x01", 3) + Bytes("\x1d", 1) + "abcd" + Bytes("\x21", 1) +
                     "abcdefgh" + text_field('\x2a', "x");
  EXPECT_EQ(shown(decode_response(more + entry_of("1-0", "a") + more, 1, 1)), "a|");
  const Bytes inside =
      text_field('\x0a', more + text_field('\x0a', "1-0") + text_field('\x12', "a"));
  EXPECT_EQ(shown(decode_response(inside, 1, 1)), "a|");
  EXPECT_EQ(shown(decode_response(Bytes("\x08\x01", 2), 1, 1)), "-|") << "another type of field 1";
}

TEST(DecryptBulk, EveryBeginOfAnAnswerIsReadOrRefused) {
  const Bytes answer = entry_of("1-0", "a") + Bytes("\x10\x96\x01", 3) + Bytes("\x1d", 1) + "abcd";
  for (size_t size = 0; size < answer.size(); ++size)
    (void)decode_response(answer.substr(0, size), 1, 1);
}

TEST(DecryptBulk, WhatIsNoMessageIsRefused) {
  for (const Bytes& bytes :
       {Bytes("\x0a\xff\xff\xff\xff\x0f", 6),                           // longer than it is
        Bytes("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),      // longer than memory
        Bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12),  // no end of a number
        Bytes("\x0b", 1), Bytes("\x0f", 1), Bytes("\x02\x00", 2),       // no type; field 0
        Bytes("\x0a", 1),
        Bytes("\x1d"
              "abc",
              4),
        Bytes("\x21"
              "abcdefg",
              8),  // cut
        text_field('\x0a', Bytes("\x0a\x09"
                                 "1-0",
                                 5)),
        Bytes("<html></html>")}) {
    EXPECT_EQ(shown(decode_response(bytes, 1, 1)), "is no DecryptBulkResponse");
  }
}

}  // namespace
}  // namespace davit::secrets_vault
