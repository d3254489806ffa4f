// Headers and trailers as they cross the wire, in every protocol: names and values that HTTP takes,
// and bytes (names that end in "-bin") in base64. Inside the host they are bytes.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

// As Connect writes bytes, and gRPC may.
std::string unpadded_base64(std::string_view bytes);

// Leaves out what may not be sent: names that are none in HTTP, are HTTP's or a protocol's own
// ("grpc-", "connect-"), and values that are not printable ASCII. Spaces around a value go: HTTP
// does not keep them.
Pairs metadata_to_wire(const Pairs&);
// Names in lower case. What is HTTP's own, grpc-status and grpc-message are left out, and binary
// values that are not base64.
Pairs metadata_from_wire(const Pairs&);

}  // namespace davit::host
