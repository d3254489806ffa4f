// What only a start would meet otherwise: addresses that cannot be had. For `davit check`; leaves
// nothing behind.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

// Could "host:port" or "unix:/path" be listened on? UNAVAILABLE: somebody else does at present.
Result<> can_listen(const std::string& address);

}  // namespace davit::host
