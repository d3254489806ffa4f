// Closes a connection that gRPC owns. gRPC has no function for that, and goes on reading from a
// caller that begins and resets calls as fast as possible.
#pragma once

#include <string>

namespace davit::host {

// `peer` is gRPC's name of the connection: "ipv4:10.0.0.1:4711", "ipv6:%5B::1%5D:4711" or "fd:12".
// Shuts the socket down in both directions; gRPC then notices that the connection is lost. Returns
// false if there is no such connection. For an IP address it searches all descriptors of the
// process. [any]
bool cut(const std::string& peer);

}  // namespace davit::host
