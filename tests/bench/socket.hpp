// A connection of a client that speaks HTTP/2 itself.
#pragma once

#include <string>

namespace davit::bench {

// A blocking TCP socket, the caller's to close. `server` is an IPv4 address
// and a port. Throws when that is no address, or when nobody listens there.
int connected(const std::string& server);

}  // namespace davit::bench
