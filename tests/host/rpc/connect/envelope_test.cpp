#include "rpc/connect/envelope.hpp"
#include "rpc/connect/unwanted.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace davit::host {
namespace {

constexpr uint8_t known = flag::compressed | flag::end_of_stream;

std::string envelope(uint8_t flags, const std::string& message) {
  const auto head = envelope_head(flags, static_cast<uint32_t>(message.size()));
  return std::string(head.data(), head.size()) + message;
}

std::string head_only(uint8_t flags, uint32_t size) {
  const auto head = envelope_head(flags, size);
  return {head.data(), head.size()};
}

// All that comes: "0:abc 2:{}", with the error at its end.
std::string read_all(EnvelopeReader& reader) {
  std::string out;
  while (auto next = reader.next()) {
    if (!out.empty()) out += ' ';
    if (!next->ok()) return out + next->error().message;
    out += std::to_string((*next)->flags) + ":" + (*next)->message;
  }
  return out;
}

TEST(EnvelopeHead, IsFlagsAndABigEndianLength) {
  const auto head = envelope_head(0x83, 0x01020304);
  EXPECT_EQ(std::string(head.data(), head.size()), "\x83\x01\x02\x03\x04");
  EXPECT_EQ(head_only(0, 0xffffffff), std::string("\0\xff\xff\xff\xff", 5));
}

TEST(EnvelopeReader, GivesMessagesInOrder) {
  EnvelopeReader reader(known, 100);
  EXPECT_TRUE(reader.at_a_boundary());
  reader.feed(envelope(0, "abc") + envelope(1, "") + envelope(2, "{}"));
  EXPECT_EQ(read_all(reader), "0:abc 1: 2:{}");
  EXPECT_TRUE(reader.at_a_boundary());
  EXPECT_FALSE(reader.next());
}

TEST(EnvelopeReader, SaysWhatItHoldsAndWillHold) {
  EnvelopeReader reader(known, 100);
  EXPECT_EQ(reader.holds(), 0u);
  reader.feed(head_only(0, 50).substr(0, 4));
  EXPECT_EQ(reader.holds(), 4u);
  reader.feed(head_only(0, 50).substr(4) + "abc");
  EXPECT_EQ(reader.holds(), 55u) << "announced";
  reader.feed(std::string(47, 'x') + head_only(0, 0xffffffff));
  EXPECT_EQ(reader.holds(), 60u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.holds(), 5u) << "what is too large will not be kept";
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.holds(), 0u);
}

TEST(EnvelopeReader, KeepsEveryByteOfAMessage) {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  EnvelopeReader reader(known, 256);
  reader.feed(envelope(1, every));
  const auto next = reader.next();
  ASSERT_TRUE(next && next->ok());
  EXPECT_EQ((*next)->message, every);
}

TEST(EnvelopeReader, GivesTheSameHoweverTheBytesCome) {
  const std::string bytes = envelope(0, "first") + envelope(1, "") +
                            envelope(0, std::string(300, 'x')) + envelope(2, "{}") +
                            envelope(0, "more");
  EnvelopeReader at_once(known, 300);
  at_once.feed(bytes);
  const std::string expected = read_all(at_once);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    EnvelopeReader reader(known, 300);
    std::string got;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece));
      const std::string more = read_all(reader);
      if (!more.empty()) got += (got.empty() ? "" : " ") + more;
    }
    EXPECT_EQ(got, expected) << piece;
    EXPECT_TRUE(reader.at_a_boundary()) << piece;
  }
}

TEST(EnvelopeReader, GivesTheSameHoweverLateItIsAsked) {
  const std::string bytes = envelope(0, "one") + envelope(0, "two") + envelope(0, "three");
  EnvelopeReader reader(known, 100);
  std::string got;
  for (const char c : bytes) {
    reader.feed({&c, 1});
    // Once only: the rest waits while more is fed.
    if (c != 'o') continue;
    if (const auto next = reader.next()) got += (*next)->message + " ";
  }
  EXPECT_EQ(got, "one ");
  EXPECT_EQ(read_all(reader), "0:two 0:three");
}

TEST(EnvelopeReader, KnowsWhereAStreamMayEnd) {
  const std::string bytes = envelope(0, "abc");
  for (size_t n = 1; n < bytes.size(); ++n) {
    EnvelopeReader reader(known, 100);
    reader.feed(bytes.substr(0, n));
    EXPECT_FALSE(reader.next()) << n;
    EXPECT_FALSE(reader.at_a_boundary()) << n;
  }
  EnvelopeReader unread(known, 100);
  unread.feed(bytes + bytes);
  EXPECT_TRUE(unread.at_a_boundary()) << "whole messages wait, no part of one";
  unread.feed(bytes.substr(0, 4));
  EXPECT_FALSE(unread.at_a_boundary());
}

TEST(EnvelopeReader, TakesAMessageAsLargeAsTheLimitAndNoneLarger) {
  EnvelopeReader fits(known, 10);
  fits.feed(envelope(0, std::string(10, 'x')));
  EXPECT_EQ(read_all(fits), "0:xxxxxxxxxx");
  EnvelopeReader too_large(known, 10);
  too_large.feed(head_only(0, 11) + "some");
  EXPECT_FALSE(too_large.next()) << "the peer is let come to the end of it";
  EXPECT_FALSE(too_large.at_a_boundary());
  too_large.feed("of it");
  EXPECT_FALSE(too_large.next());
  too_large.feed("all and more");
  const auto next = too_large.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->error().code, Code::resource_exhausted);
  EXPECT_EQ(next->error().message, "message of 11 bytes is larger than the limit of 10 bytes");
  EnvelopeReader nothing(known, 0);
  nothing.feed(envelope(0, ""));
  EXPECT_EQ(read_all(nothing), "0:");
}

TEST(EnvelopeReader, TakesTheLargestLengthAsANumberOfItsOwn) {
  EnvelopeReader none(known, UINT32_MAX - 1);
  none.feed(head_only(0, UINT32_MAX));
  for (size_t fed = 5; fed < unwanted_bytes_max; fed += 1u << 20) {
    EXPECT_FALSE(none.next()) << fed;
    none.feed(std::string(1u << 20, 'x'));
  }
  EXPECT_EQ(none.next()->error().code, Code::resource_exhausted);
  EnvelopeReader any(known, UINT32_MAX);
  any.feed(head_only(0, UINT32_MAX) + "part");
  EXPECT_FALSE(any.next());
  EXPECT_FALSE(any.at_a_boundary());
}

TEST(EnvelopeReader, RefusesFlagsThatAreNotKnown) {
  for (int flags = 0; flags < 256; ++flags) {
    const auto f = static_cast<uint8_t>(flags);
    EnvelopeReader reader(known, 100);
    reader.feed(envelope(f, "x"));
    const auto next = reader.next();
    ASSERT_TRUE(next) << flags;
    EXPECT_EQ(next->ok(), (f & ~known) == 0) << flags;
    if (next->ok()) continue;
    EXPECT_EQ(next->error().code, Code::invalid_argument) << flags;
  }
  EnvelopeReader web(flag::trailers, 100);
  web.feed(envelope(flag::trailers, "grpc-status: 0\r\n"));
  EXPECT_EQ(read_all(web), "128:grpc-status: 0\r\n");
  EnvelopeReader plain(0, 100);
  plain.feed(envelope(flag::compressed, "x"));
  EXPECT_EQ(plain.next()->error().code, Code::invalid_argument);
}

TEST(EnvelopeReader, GivesWhatCameBeforeAFaultAndThenTheFaultForEver) {
  const std::string bytes = envelope(0, "good") + head_only(0x40, 1);
  for (const size_t piece : {size_t{1}, size_t{3}, bytes.size()}) {
    EnvelopeReader reader(known, 100);
    for (size_t at = 0; at < bytes.size(); at += piece) reader.feed(bytes.substr(at, piece));
    EXPECT_EQ((*reader.next())->message, "good");
    for (int i = 0; i < 3; ++i) {
      const auto next = reader.next();
      ASSERT_TRUE(next) << piece;
      EXPECT_EQ(next->error().message, "a message has flags that are not known here: 64");
      EXPECT_FALSE(reader.at_a_boundary());
      reader.feed(envelope(0, "later"));
    }
  }
}

}  // namespace
}  // namespace davit::host
