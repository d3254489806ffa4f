// The ELF note of a plugin: its name, version and roles, and the ABI it was built for. It is read
// from the file without running any of the plugin's code. abi/core.h defines its format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Note {
  uint32_t abi_major = 0, abi_minor = 0;  // minor: the lowest that this plugin works with
  std::string name, version;
  std::vector<std::string> roles;
};

// Reads the note from the bytes of a whole file. FAILED_PRECONDITION: not an ELF file, built for
// another machine, cut off, or without a note. The messages lack the path; the caller puts it in
// front.
Result<Note> read_note(std::string_view elf);
// Parses the note's text, which is lines of key=value. Skips keys that this host does not know.
Result<Note> parse_note(std::string_view text);

// Checks that this host's ABI fits. FAILED_PRECONDITION, with what to do, if it does not.
Result<> check_abi(const Note& note);

}  // namespace davit::host
