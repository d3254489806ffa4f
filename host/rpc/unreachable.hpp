// What it most likely means that a server cannot be spoken with.
#pragma once

#include <string>

namespace davit::host {

// `why`: what the transport says of a first connection to `url`. Empty: that says it all; otherwise
// " (...)", to be put behind it.
std::string hint_of(const std::string& url, const std::string& why);

}  // namespace davit::host
