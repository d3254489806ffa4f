// The messages of the suite, read and written without generated code.
#include "messages.hpp"

#include <gtest/gtest.h>

namespace davit::suite {

TEST(SuiteWire, WhatIsWrittenIsReadBack) {
  const std::string message =
      Writer().number(1, 300).bytes(2, "abc").number(16, UINT64_MAX).bytes(2, "").take();
  const auto read = fields(message);
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].number, 1U);
  EXPECT_EQ(read[0].value, 300U);
  EXPECT_EQ(read[1].bytes, "abc");
  EXPECT_EQ(read[2].number, 16U);
  EXPECT_EQ(read[2].value, UINT64_MAX);
  EXPECT_EQ(read[3].number, 2U);
  EXPECT_EQ(read[3].bytes, "");
}

TEST(SuiteWire, FixedNumbersAreLeftOutAndTheRestIsRead) {
  const std::string fixed64("\x09\x01\x02\x03\x04\x05\x06\x07\x08", 9);
  const std::string fixed32("\x15\x01\x02\x03\x04", 5);
  const std::string message = fixed64 + fixed32 + Writer().number(3, 7).take();
  const auto read = fields(message);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].value, 7U);
}

TEST(SuiteWire, WhatIsCutShortEndsTheFields) {
  const std::string whole = Writer().number(1, 1).bytes(2, "abc").take();
  for (size_t size = 2; size < whole.size(); ++size)
    EXPECT_EQ(fields(std::string_view(whole).substr(0, size)).size(), 1U) << size;
}

TEST(SuiteWire, OnlyWhatIsWholeIsAMessage) {
  EXPECT_TRUE(is_message(""));
  EXPECT_TRUE(is_message(Writer().number(1, 1).bytes(2, "abc").take()));
  EXPECT_FALSE(is_message(Writer().number(1, 1).bytes(2, "abc").take().substr(0, 5)));
  EXPECT_FALSE(is_message("{\"payload\": {}}"));
}

TEST(SuiteMessages, HeadersOfOneNameAreOneHeader) {
  Writer out;
  write_headers(out, 4, {{"A", "1"}, {"b", "2"}, {"A", "3"}});
  const std::string message = out.take();
  const auto read = fields(message);
  ASSERT_EQ(read.size(), 2U);
  Pairs first;
  read_header(read[0].bytes, first);
  EXPECT_EQ(first, (Pairs{{"a", "1"}, {"a", "3"}}));
}

TEST(SuiteMessages, DefinitionsOfBothKindsAreRead) {
  const std::string fault = to_bytes(Fault{Code::aborted, "why", {any("Header", "x")}});
  const std::string unary = Writer().bytes(2, "data").bytes(3, fault).number(6, 20).take();
  const std::string stream =
      Writer().bytes(2, "one").bytes(2, "two").number(3, 30).bytes(4, fault).take();

  const Request one = read_request(Writer().bytes(1, unary).bytes(2, "padding").take(), false);
  ASSERT_TRUE(one.definition && one.definition->error);
  EXPECT_EQ(one.definition->error->code, Code::aborted);
  EXPECT_EQ(one.definition->error->message, "why");
  EXPECT_EQ(one.definition->error->details.size(), 1U);
  EXPECT_EQ(one.definition->delay, std::chrono::milliseconds(20));
  EXPECT_FALSE(one.full_duplex);

  const Request many = read_request(Writer().bytes(1, stream).number(2, 1).take(), true);
  ASSERT_TRUE(many.definition && many.definition->error);
  EXPECT_EQ(many.definition->data, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(many.definition->delay, std::chrono::milliseconds(30));
  EXPECT_TRUE(many.full_duplex);
}

}  // namespace davit::suite
