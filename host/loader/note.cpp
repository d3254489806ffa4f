#include "note.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>

#include <davit/abi/actuator.h>
#include <davit/abi/kind_needs.h>
#include <davit/abi/records_role.h>
#include <davit/abi/rights.h>
#include <davit/abi/secrets.h>
#include <davit/abi/storage_election.h>
#include <davit/abi/storage_intents.h>
#include <davit/abi/storage_move.h>
#include <davit/abi/storage_schema.h>

namespace davit::host {
namespace {

#if defined(__x86_64__)
constexpr uint16_t this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t this_machine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t this_machine = EM_RISCV;
#else
#error "the loader does not know this machine: add its EM_ number"
#endif

std::string machine_name(uint16_t machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  if (machine == EM_RISCV) return "riscv";
  if (machine == EM_386) return "i386";
  if (machine == EM_ARM) return "arm";
  if (machine == EM_S390) return "s390";
  if (machine == EM_PPC64) return "ppc64";
  return "machine " + std::to_string(machine);
}

Error unusable(std::string message) {
  return {Code::failed_precondition, std::move(message)};
}

// Reads a T at `offset`. False: the file ends before it.
template <class T>
bool get(std::string_view file, uint64_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

// Names and texts in a note are padded to 4 bytes.
constexpr uint64_t padded(uint64_t n) {
  return (n + 3) & ~uint64_t{3};
}

// The text of Davit's note in one segment of notes; empty if there is none.
std::string_view find_in(std::string_view notes) {
  uint64_t at = 0;
  Elf64_Nhdr header;
  while (get(notes, at, header)) {
    const uint64_t owner = at + sizeof header;
    const uint64_t text = owner + padded(header.n_namesz);
    if (text > notes.size() || header.n_descsz > notes.size() - text) return {};
    const std::string_view owner_name = notes.substr(owner, header.n_namesz);
    if (header.n_type == DAVIT_NOTE_TYPE &&
        owner_name == std::string_view(DAVIT_NOTE_OWNER "\0", 6)) {
      std::string_view found = notes.substr(text, header.n_descsz);
      while (!found.empty() && found.back() == '\0') found.remove_suffix(1);
      return found;
    }
    at = text + padded(header.n_descsz);
  }
  return {};
}

bool number(std::string_view s, uint32_t& out) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc{} && end == s.data() + s.size();
}

std::vector<std::string> split(std::string_view s, char by) {
  std::vector<std::string> out;
  while (!s.empty()) {
    const size_t end = s.find(by);
    out.emplace_back(s.substr(0, end));
    s.remove_prefix(end == std::string_view::npos ? s.size() : end + 1);
  }
  return out;
}

// What a plugin may need and not every host has.
const std::vector<std::string>& known_needs() {
  static const std::vector<std::string> words = {DAVIT_NEEDS_RPC, DAVIT_NEEDS_CODEC};
  return words;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view name_of(std::string_view role) {
  return role.substr(0, role.find('/'));
}

// The words of the list that have the name: "storage/1, storage/2".
std::string named(const std::vector<std::string>& roles, std::string_view name) {
  std::string out;
  for (const std::string& role : roles) {
    if (name_of(role) == name) out += (out.empty() ? "" : ", ") + role;
  }
  return out;
}

Result<> check_abi(const Note& note) {
  const std::string ours = std::to_string(DAVIT_ABI_MAJOR), theirs = std::to_string(note.abi_major);
  if (note.abi_major != DAVIT_ABI_MAJOR) {
    return unusable("built for ABI " + theirs + ", this host speaks " + ours +
                    ": rebuild it or install a host that speaks " + theirs);
  }
  if (note.abi_minor > DAVIT_ABI_MINOR) {
    const std::string needs = theirs + "." + std::to_string(note.abi_minor);
    return unusable("needs ABI " + needs + ", this host speaks " + ours + "." +
                    std::to_string(DAVIT_ABI_MINOR) + ": install a host that speaks " + needs);
  }
  // Notes said 1.0 while the ABI still changed.
  if (!note.states_needs) {
    return unusable(
        "built for an ABI before 1.0 (its note has no line \"needs\"), this host speaks " + ours +
        "." + std::to_string(DAVIT_ABI_MINOR) + ": build it again with the SDK of this host");
  }
  return {};
}

Result<> check_role(const Note& note, const std::string& role) {
  const std::string_view name = name_of(role);
  uint32_t major = 0;
  if (name.empty() || name.size() == role.size() ||
      !number(std::string_view(role).substr(name.size() + 1), major)) {
    return unusable("its note names the role \"" + role +
                    "\", which is not NAME/MAJOR: build it with davit_add_plugin()");
  }
  const std::string ours = named(known_roles(), name);
  const bool common =
      std::any_of(note.roles.begin(), note.roles.end(), [&](const std::string& played) {
        return name_of(played) == name && contains(known_roles(), played);
      });
  if (ours.empty() || common) return {};
  return unusable("plays the role " + named(note.roles, name) + ", this host knows " + ours +
                  ": install a davit and a plugin that go together");
}

}  // namespace

std::string interface_of(std::string_view role) {
  const bool is_id = role.find('.') != std::string_view::npos;
  return (is_id ? "" : "davit.") + std::string(role);
}

const std::vector<std::string>& known_roles() {
  static const std::vector<std::string> roles = [] {
    std::vector<std::string> out;
    for (const std::string_view id :
         {DAVIT_STORAGE, DAVIT_STORAGE_COPY, DAVIT_STORAGE_MOVE, DAVIT_STORAGE_SCHEMA,
          DAVIT_STORAGE_ELECTION, DAVIT_STORAGE_INTENTS, DAVIT_CHANGE_SINK, DAVIT_STATUS_SINK,
          DAVIT_KIND, DAVIT_KIND_NEEDS, DAVIT_GATE, DAVIT_CLUSTER, DAVIT_RIGHTS, DAVIT_SECRETS,
          DAVIT_RECORDS, DAVIT_ACTUATOR})
      out.emplace_back(id.substr(id.find('.') + 1));
    return out;
  }();
  return roles;
}

Result<> check_note(const Note& note) {
  if (auto abi = check_abi(note); !abi.ok()) return abi;
  for (const std::string& word : note.needs) {
    if (!contains(known_needs(), word))
      return unusable("needs \"" + word +
                      "\", which this host does not know: install a newer davit");
  }
  for (const std::string& role : note.roles) {
    if (auto known = check_role(note, role); !known.ok()) return known;
  }
  return {};
}

Result<Note> parse_note(std::string_view text) {
  Note note;
  for (const std::string& line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    const std::string_view value = std::string_view(line).substr(equals + 1);
    if (key == "abi") {
      const size_t dot = value.find('.');
      if (dot == std::string_view::npos || !number(value.substr(0, dot), note.abi_major) ||
          !number(value.substr(dot + 1), note.abi_minor)) {
        return unusable("its note says ABI \"" + std::string(value) +
                        "\", which is not MAJOR.MINOR");
      }
    } else if (key == "name") {
      note.name = value;
    } else if (key == "version") {
      note.version = value;
    } else if (key == "roles") {
      note.roles = split(value, ',');
    } else if (key == "needs") {
      note.needs = split(value, ',');
      note.states_needs = true;
    }
  }
  if (note.name.empty() || note.abi_major == 0)
    return unusable("its note lacks \"abi\" or \"name\"");
  return note;
}

Result<Note> read_note(std::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < EI_NIDENT || std::memcmp(elf.data(), ELFMAG, SELFMAG) != 0) {
    return unusable("not a shared object (no ELF header)");
  }
  if (elf[EI_CLASS] != ELFCLASS64 || elf[EI_DATA] != ELFDATA2LSB || !get(elf, 0, header)) {
    return unusable("not a 64-bit little-endian shared object");
  }
  if (header.e_machine != this_machine) {
    return unusable("built for " + machine_name(header.e_machine) + ", this host runs on " +
                    machine_name(this_machine));
  }
  if (header.e_type != ET_DYN) return unusable("not a shared object");
  // The section table is the last part of a file: if it is complete, so is the rest. A stripped
  // file may have none.
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff > elf.size() || sections > elf.size() - header.e_shoff) {
    return unusable("is cut off (the file is shorter than its header says)");
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (header.e_phentsize < sizeof segment || header.e_phoff > elf.size() ||
        !get(elf, header.e_phoff + i * header.e_phentsize, segment) ||
        (segment.p_filesz > 0 &&
         (segment.p_offset > elf.size() || segment.p_filesz > elf.size() - segment.p_offset))) {
      return unusable("is cut off (the file is shorter than its header says)");
    }
    if (segment.p_type != PT_NOTE) continue;
    const std::string_view found = find_in(elf.substr(segment.p_offset, segment.p_filesz));
    if (!found.empty()) return parse_note(found);
  }
  return unusable("not a davit plugin (no note " DAVIT_NOTE_SECTION
                  "): build it with davit_add_plugin()");
}

}  // namespace davit::host
