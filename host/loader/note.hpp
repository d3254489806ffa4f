// The ELF note of a plugin: its name, version and roles, what it needs, and the ABI it was built
// for. It is read from the file without running any of the plugin's code. abi/core.h defines its
// format.
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
  std::vector<std::string> roles, needs;  // "storage/1", "rpc/1"
  bool states_needs = false;              // plugins of before ABI 1.0 have no such line
};

// Reads the note from the bytes of a whole file. FAILED_PRECONDITION: not an ELF file, built for
// another machine, cut off, or without a note. The messages lack the path; the caller puts it in
// front.
Result<Note> read_note(std::string_view elf);
// Parses the note's text, which is lines of key=value. Skips keys that this host does not know.
Result<Note> parse_note(std::string_view text);

// Checks that this host can run such a plugin: it speaks the ABI, the note has the line `needs`,
// the host knows each word of it, and each role in one of the majors that the plugin plays. It lets
// pass roles whose name it does not know, because other plugins may. FAILED_PRECONDITION, with what
// to do, if it cannot.
Result<> check_note(const Note& note);

// The id of the table that a role of a note stands for: "davit.storage/1" of "storage/1".
std::string interface_of(std::string_view role);
// All roles that this host knows, as notes name them.
const std::vector<std::string>& known_roles();

}  // namespace davit::host
