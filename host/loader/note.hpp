// The ELF note of a plugin, read from the file without running one instruction of it: who it is and
// which ABI it was built for. abi/core.h has its form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Note {
  uint32_t abi_major = 0, abi_minor = 0;  // minor: the least that this plugin needs
  std::string name, version;
  std::vector<std::string> roles;
};

// Of the whole file's bytes. FAILED_PRECONDITION: no ELF file, for another machine, cut off, no
// note. Messages speak of "it" and want the path in front.
Result<Note> read_note(std::string_view elf);
// Of the note's text: lines of key=value. Keys that this host does not know are skipped.
Result<Note> parse_note(std::string_view text);

// Can a plugin with this note live in this host? INVALID_ARGUMENT with what to do.
Result<> check_abi(const Note& note);

}  // namespace davit::host
