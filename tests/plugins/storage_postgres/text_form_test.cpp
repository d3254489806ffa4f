#include "text_form.hpp"

#include <gtest/gtest.h>

namespace davit::storage_postgres {
namespace {

using Texts = std::vector<std::string>;

TEST(TextForm, ArraysKeepTheirTexts) {
  const Texts texts = {"",     "a",    "a,b", "{}",  "\"quoted\"", "back\\slash",
                       "NULL", "null", " ",   "\n\t"};
  ArrayText array;
  for (const auto& text : texts) array.add(text);
  EXPECT_EQ(array_elements(array.take()), texts);
  EXPECT_EQ(ArrayText().take(), "{}");
  EXPECT_EQ(array_elements("{}"), Texts{});
}

TEST(TextForm, ReadsWhatTheServerWritesWithoutQuotes) {
  EXPECT_EQ(array_elements("{a,NULL,\"b c\",\"\",d}"), (Texts{"a", "", "b c", "", "d"}));
  EXPECT_EQ(array_elements("{NULL}"), Texts{""});
}

TEST(TextForm, BytesStandInHexadecimalForm) {
  const std::string bytes("\x00\xff\x10z", 4);
  EXPECT_EQ(ArrayText().add_bytes(bytes).add_bytes("").take(), "{\"\\\\x00ff107a\",\"\\\\x\"}");
  std::string read;
  append_bytes(read, "\\x00ff107a");
  EXPECT_EQ(read, bytes);
  read.clear();
  append_bytes(read, "\\x");
  EXPECT_EQ(read, "");
}

TEST(TextForm, NumbersKeepAllTheirBits) {
  EXPECT_EQ(to_number("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(to_integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(bounded_number(UINT64_MAX), "9223372036854775807");
  EXPECT_EQ(ArrayText().add_number(int64_t{-1}).add_number(uint64_t{2}).add_null().take(),
            "{-1,2,NULL}");
}

}  // namespace
}  // namespace davit::storage_postgres
