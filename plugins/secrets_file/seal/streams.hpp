// Standard input and output of davit-seal, without copies that are not wiped.
#pragma once

#include "files.hpp"

namespace davit::secrets_file {

// Reads standard input to its end. A person who types is told how to end; `typed` says what is to
// be typed. INVALID_ARGUMENT: it is larger than `bytes_max`.
Result<LockedBytes> read_input(size_t bytes_max, const char* typed);

// Writes all of it. INTERNAL: it cannot be written.
Result<> write_all(int fd, std::string_view bytes);

// A line on standard error, for people: what comes from others cannot move the cursor.
void note(const std::string& command, const std::string& text);

}  // namespace davit::secrets_file
