// What a stream sends goes out without a copy of its own.
#include "rpc/connect/outgoing.hpp"

#include <gtest/gtest.h>

#include "rpc/connect/envelope.hpp"
#include "rpc/connect/write_queue.hpp"

namespace davit::host {
namespace {

TEST(Outgoing, GivesHeadAndBodyInWhateverRoomThereIs) {
  const std::string body = "the body of a message";
  for (const Outgoing& piece :
       {in_envelope(flag::compressed, Buffer::of(body)), Outgoing{{}, 0, Buffer::of(body)},
        in_envelope(0, Buffer::of("")), Outgoing()}) {
    std::string whole(piece.size(), '-');
    EXPECT_EQ(piece.copy(0, whole.data(), whole.size()), whole.size());
    for (size_t room = 1; room < piece.size() + 2; ++room) {
      std::string out;
      while (out.size() < piece.size()) {
        std::string to(room, '-');
        const size_t copied = piece.copy(out.size(), to.data(), room);
        ASSERT_EQ(copied, std::min(room, piece.size() - out.size()));
        out += to.substr(0, copied);
      }
      EXPECT_EQ(out, whole);
    }
  }
}

TEST(Outgoing, IsTheMessageInItsEnvelope) {
  const Outgoing piece = in_envelope(flag::compressed, Buffer::of(std::string(300, 'x')));
  std::string out(piece.size(), '-');
  piece.copy(0, out.data(), out.size());
  EXPECT_EQ(out, std::string("\1\0\0\1\x2c", 5) + std::string(300, 'x'));
}

// Fifty agents that bootstrap together are sent the same frames.
TEST(Outgoing, QueuesOfManyStreamsHoldOneMessageBetweenThem) {
  const Buffer frame = Buffer::of(std::string(64 << 10, 'f'));
  for (int stream = 0; stream < 50; ++stream) {
    WriteQueue queue(32 << 10);
    queue.put(frame);
    for (const Buffer& taken : queue.take())
      EXPECT_EQ(in_envelope(0, taken).body.view().data(), frame.view().data());
  }
}

}  // namespace
}  // namespace davit::host
