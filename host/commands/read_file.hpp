// Reads whole files for the commands. Unlike a stream, it tells a file that cannot be read from an
// empty one.
#pragma once

#include <string>

#include <davit/types.hpp>

namespace davit::host {

// INVALID_ARGUMENT with a message like "token: cannot be read: Is a directory".
Result<std::string> read_file(const std::string& path);
// The same for standard input; its name in messages is "<stdin>".
Result<std::string> read_standard_input();

}  // namespace davit::host
