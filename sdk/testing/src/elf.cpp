// Reads the ELF note and the symbol table of a plugin without running its code.
#include <elf.h>

#include "davit/testing/module.hpp"
#include "file.hpp"

namespace davit::testing {
namespace {

// A 64-bit ELF file in memory. Every access is checked against its size.
class Elf {
 public:
  static Result<Elf> open(const std::string& path) {
    auto bytes = read_file(path);
    if (!bytes.ok()) return bytes.error();
    Elf elf{std::move(*bytes)};
    const auto* header = elf.at<Elf64_Ehdr>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
      return Error{Code::invalid_argument, path + " is not a 64-bit ELF file", path};
    }
    return elf;
  }

  const Elf64_Shdr* section(size_t index) const {
    const auto* header = at<Elf64_Ehdr>(0);
    return index < header->e_shnum ? at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr))
                                   : nullptr;
  }
  size_t sections() const { return at<Elf64_Ehdr>(0)->e_shnum; }
  std::string_view name(const Elf64_Shdr& s) const {
    const auto* names = section(at<Elf64_Ehdr>(0)->e_shstrndx);
    return names == nullptr ? std::string_view{} : text(*names, s.sh_name);
  }
  std::string_view text(const Elf64_Shdr& strings, size_t offset) const {
    const std::string_view all = content(strings);
    if (offset >= all.size()) return {};
    const std::string_view rest = all.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }
  std::string_view content(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes_.size() ||
        s.sh_size > bytes_.size() - s.sh_offset)
      return {};
    return std::string_view(bytes_).substr(s.sh_offset, s.sh_size);
  }

 private:
  explicit Elf(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  const T* at(size_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(bytes_.data() + offset);
  }
  std::string bytes_;
};

std::vector<std::string> split(std::string_view s, char by) {
  std::vector<std::string> out;
  while (!s.empty()) {
    const size_t end = s.find(by);
    if (end != 0) out.emplace_back(s.substr(0, end));
    s.remove_prefix(end == std::string_view::npos ? s.size() : end + 1);
  }
  return out;
}

}  // namespace

Result<Note> read_note(const std::string& path) {
  auto elf = Elf::open(path);
  if (!elf.ok()) return elf.error();
  for (size_t i = 0; i < elf->sections(); ++i) {
    const auto* section = elf->section(i);
    if (section == nullptr || elf->name(*section) != DAVIT_NOTE_SECTION) continue;
    const std::string_view all = elf->content(*section);
    Elf64_Nhdr header{};
    if (all.size() < sizeof header) break;
    std::memcpy(&header, all.data(), sizeof header);
    const size_t text_at = sizeof header + (header.n_namesz + 3u) / 4 * 4;
    if (header.n_type != DAVIT_NOTE_TYPE || text_at > all.size() ||
        header.n_descsz > all.size() - text_at)
      break;
    Note note;
    for (const auto& line : split(all.substr(text_at, header.n_descsz), '\n')) {
      const size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
      if (key == "abi") note.abi = value;
      if (key == "name") note.name = value;
      if (key == "version") note.version = value;
      if (key == "roles") note.roles = split(value, ',');
      if (key == "needs") {
        note.needs = split(value, ',');
        note.states_needs = true;
      }
    }
    return note;
  }
  return Error{Code::invalid_argument, path + " has no note " DAVIT_NOTE_SECTION, path};
}

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  auto elf = Elf::open(path);
  if (!elf.ok()) return elf.error();
  std::vector<std::string> out;
  for (size_t i = 0; i < elf->sections(); ++i) {
    const auto* section = elf->section(i);
    if (section == nullptr || section->sh_type != SHT_DYNSYM) continue;
    const auto* names = elf->section(section->sh_link);
    std::string_view symbols = elf->content(*section);
    for (; names != nullptr && symbols.size() >= sizeof(Elf64_Sym);
         symbols.remove_prefix(sizeof(Elf64_Sym))) {
      Elf64_Sym symbol{};
      std::memcpy(&symbol, symbols.data(), sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      out.emplace_back(elf->text(*names, symbol.st_name));
    }
  }
  return out;
}

}  // namespace davit::testing
