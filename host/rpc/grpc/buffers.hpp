// Between davit_buf and gRPC's buffers, without copying what is large.
#pragma once

#include <davit/types.hpp>

namespace grpc {
class ByteBuffer;
}

namespace davit::host {

// One message made of parts. Parts are retained until gRPC has written them; tiny ones are copied.
grpc::ByteBuffer to_grpc(davit_buf* const* parts, size_t parts_count);

// Takes the message over. What comes in one slice is not copied unless it is small: a small message
// would keep the whole chunk that was read from the network alive.
Buffer from_grpc(grpc::ByteBuffer& message);

}  // namespace davit::host
