#include "catalogue.hpp"

#include <algorithm>

#include "shipped_files.hpp"
#include "text_pieces.hpp"

namespace davit::host {
namespace {

bool is_key(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

// Where the comment of `value # comment` begins: a "#" outside of strings.
size_t comment_of(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == '#') return i;
    if (quote == '"' && c == '\\') {
      ++i;
    } else if (quote == c) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
  }
  return line.size();
}

std::string_view about_of(std::string_view line) {
  const size_t at = comment_of(line);
  return at == line.size() ? std::string_view() : trimmed(line.substr(at + 1));
}

// Whether the words beside a commented key say that its value is no default.
bool is_example(std::string_view about) {
  return about.find("absent") != std::string_view::npos || about.starts_with("default") ||
         about.find("; default:") != std::string_view::npos ||
         about.find("set it") != std::string_view::npos;
}

}  // namespace

// The place in a file: which table the next keys belong to.
struct Catalogue::Reader {
  Catalogue& to;
  std::map<std::string, std::string> modules;  // of the instances
  std::string instance;                        // of [plugin.INSTANCE]
  std::string scope;                           // empty: nothing that has settings
  std::string prefix;                          // "token." below [plugin.x.token]
  std::string table_about;

  void note(const std::string& name, Entry entry) const {
    if (scope.empty()) return;
    const auto [at, is_new] = to.scopes_[scope].try_emplace(name, std::move(entry));
    if (!is_new && at->second.about.empty()) at->second.about = entry.about;
  }
  void heading(std::string_view name, std::string_view about);
  void line(std::string_view line);
};

void Catalogue::Reader::heading(std::string_view name, std::string_view about) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    parts.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool plugin = parts.front() == "plugin" && parts.size() > 1;
  const bool rpc = parts.front() == "rpc" && parts.size() > 2;
  scope = rpc ? "rpc." + parts[1] : parts.front();
  if (plugin) {
    instance = parts[1];
    scope = modules.contains(instance) ? "plugin:" + modules[instance] : "";
  }
  prefix.clear();
  for (size_t i = rpc ? 3 : plugin ? 2 : 1; i < parts.size(); ++i) prefix += parts[i] + ".";
  table_about = about;
  if (!prefix.empty()) note(prefix.substr(0, prefix.size() - 1), {"", std::string(about), true});
}

void Catalogue::Reader::line(std::string_view line) {
  bool commented = line.starts_with('#');
  if (commented) line.remove_prefix(1);
  if (commented && line.starts_with("  ")) {
    line.remove_prefix(2);
    commented = false;  // what goes with some other setting only has no default
  }
  if (line.starts_with('[')) {
    line.remove_prefix(line.starts_with("[[") ? 2 : 1);
    const size_t end = line.find(']');
    if (end != std::string_view::npos) heading(line.substr(0, end), about_of(line.substr(end)));
    return;
  }
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || !is_key(line.substr(0, equals))) return;
  const std::string key(line.substr(0, equals));
  const std::string_view rest = line.substr(equals + 3);
  const std::string value(trimmed(rest.substr(0, comment_of(rest))));
  const std::string about(about_of(rest));
  if (key == "module" && prefix.empty() && value.size() > 2) {
    modules[instance] = value.substr(1, value.size() - 2);
    scope = "plugin:" + modules[instance];
    note("module", {value, about.empty() ? table_about : about, false});
    return;
  }
  note(prefix + key, {value, about, commented});
}

Catalogue Catalogue::shipped() {
  Catalogue out;
  for (const ShippedFile& file : shipped_files()) out.read(file.text);
  return out;
}

void Catalogue::read(std::string_view text) {
  Reader reader{*this, {}, {}, {}, {}, {}};
  for (const std::string_view line : split_lines(text)) reader.line(line);
}

void Catalogue::describe(const std::string& scope, Setting& table) const {
  describe(scope, "", table);
}

void Catalogue::describe(const std::string& scope, const std::string& prefix,
                         Setting& table) const {
  const auto entries = scopes_.find(scope);
  if (entries == scopes_.end()) return;
  for (Setting& part : table.parts) {
    const auto entry = entries->second.find(prefix + part.name);
    if (entry != entries->second.end()) {
      const auto& [value, about, commented] = entry->second;
      const bool usual = commented && !part.required && !is_example(about);
      (usual ? part.usual : part.example) = value;
      part.about = about;
    }
    describe(scope, prefix + part.name + ".", part);
  }
}

std::vector<std::string> Catalogue::names(const std::string& scope) const {
  std::vector<std::string> out;
  const auto entries = scopes_.find(scope);
  if (entries == scopes_.end()) return out;
  for (const auto& [name, entry] : entries->second) {
    if (name != "module") out.push_back(name);
  }
  return out;
}

std::vector<std::string> Catalogue::scopes() const {
  std::vector<std::string> out;
  for (const auto& [scope, entries] : scopes_) out.push_back(scope);
  return out;
}

std::string Catalogue::about_module(const std::string& module) const {
  const auto entries = scopes_.find("plugin:" + module);
  if (entries == scopes_.end()) return {};
  const auto entry = entries->second.find("module");
  return entry == entries->second.end() ? "" : entry->second.about;
}

}  // namespace davit::host
