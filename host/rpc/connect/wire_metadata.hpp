// Converts headers and trailers between the host and the wire, for every protocol. On the wire,
// bytes (names that end in "-bin") are in base64. Inside the host they are bytes.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

// Base64 as Connect writes it, and gRPC may.
std::string unpadded_base64(std::string_view bytes);

// Leaves out what must not be sent: illegal names, names that HTTP or a protocol reserves ("grpc-",
// "connect-"), and values that are not printable ASCII. Strips spaces around a value, which HTTP
// does not keep.
Pairs metadata_to_wire(const Pairs&);
// Names in lower case. Leaves out HTTP's own headers, grpc-status, grpc-message, and binary values
// that are not base64.
Pairs metadata_from_wire(const Pairs&);

}  // namespace davit::host
