// The envelope of a message in a stream: five bytes with flags and a big-endian length, the same in
// Connect, gRPC and gRPC-Web. Both ends of a call use it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "outgoing.hpp"

namespace davit::host {

namespace flag {
inline constexpr uint8_t compressed = 0x01;
inline constexpr uint8_t end_of_stream = 0x02;  // Connect: the message is JSON about the end
inline constexpr uint8_t trailers = 0x80;       // gRPC-Web: the message is a block of trailers
}  // namespace flag

std::array<char, 5> envelope_head(uint8_t flags, uint32_t size);
Outgoing in_envelope(uint8_t flags, Buffer message);

struct Envelope {
  uint8_t flags = 0;
  std::string message;
};

// Takes bytes as they arrive and returns complete messages. Holds at most one message and what was
// fed after it.
class EnvelopeReader {
 public:
  // Flags outside `known` are an error (INVALID_ARGUMENT), as is a message of more than `bytes_max`
  // (RESOURCE_EXHAUSTED). The bytes of such a message are discarded, up to 8 MiB of it, and the
  // error is returned after them.
  EnvelopeReader(uint8_t known, uint32_t bytes_max) : known_(known), bytes_max_(bytes_max) {}

  void feed(std::string_view bytes);
  // nullopt if more bytes are needed. After an error every call returns that error.
  std::optional<Result<Envelope>> next();
  // The size of the message that was too large, once `next` returns that error.
  std::optional<uint32_t> too_large() const { return unwanted_ > 0 ? std::nullopt : too_large_; }
  // The bytes that wait, and those still to come of the first message, unless it is too large.
  size_t holds() const;
  size_t waiting() const { return bytes_.size() - read_; }
  // Whether the waiting bytes are complete messages, so that the stream may end here.
  bool at_a_boundary() const;

 private:
  const uint8_t known_;
  const uint32_t bytes_max_;
  std::string bytes_;
  size_t read_ = 0;  // how much of bytes_ was read
  std::optional<Error> fault_;
  std::optional<uint32_t> too_large_;
  size_t unwanted_ = 0;  // bytes still to discard before the error is returned

  void look_at_head();
};

}  // namespace davit::host
