// Explains why a client may be unable to talk to a server. Caller appends the hint to errors.
#pragma once

#include <string>

namespace davit::host {

// `why` is the transport's error of a first connection to `url`. Returns " (...)" to be appended to
// it, or nothing if there is no hint.
std::string hint_of(const std::string& url, const std::string& why);

}  // namespace davit::host
