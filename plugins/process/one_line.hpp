// What a program has written, for a message or a line of a log: on one line and harmless.
#pragma once

#include <string>
#include <string_view>

namespace davit::process {

// Without control characters and without what colours a terminal; what is no UTF-8 becomes "?". Of
// a longer text the end, behind "...".
std::string one_line(std::string_view text, size_t bytes_max = 500);

}  // namespace davit::process
