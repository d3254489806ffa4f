// Converts between davit_buf and gRPC's buffers, without copying large messages. The calls of grpc/
// use it at either end.
#pragma once

#include <davit/types.hpp>

namespace grpc {
class ByteBuffer;
}

namespace davit::host {

// Makes one message of the parts. Parts are retained until gRPC has written them; those of at most
// 64 bytes are copied.
grpc::ByteBuffer to_grpc(davit_buf* const* parts, size_t parts_count);

// Takes the message over. A message in one slice is not copied unless it has at most 4 KiB: a small
// message would keep alive the whole chunk that was read from the network.
Buffer from_grpc(grpc::ByteBuffer& message);

}  // namespace davit::host
