// Finds addresses that a start could not listen on. For `davit check`; leaves nothing behind.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

// Could the host listen on "host:port" or "unix:/path"? UNAVAILABLE: another process does at
// present.
Result<> can_listen(const std::string& address);

}  // namespace davit::host
