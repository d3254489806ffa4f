// Ends a connection that gRPC owns: it has no call for that, and a caller that begins and resets
// calls as fast as it can is read on and on, whatever its calls are answered.
#pragma once

#include <string>

namespace davit::host {

// `peer`: as gRPC names the connection ("ipv4:10.0.0.1:4711", "ipv6:%5B::1%5D:4711", "fd:12"). Its
// socket is shut down both ways, and the transport finds that out by itself; false when there is
// none. Looks at every descriptor of the process. [any]
bool cut(const std::string& peer);

}  // namespace davit::host
