#include "plugin_new.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "exit_codes.hpp"
#include "output.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;
using Words = std::map<std::string, std::string>;

constexpr const char* common_folder = "common";
constexpr const char* words_file = "template.conf";  // of a template: words of its own

// Where those of this installation are, relative to the program, as its plugins are.
std::string installed_templates() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / DAVIT_TEMPLATES_FROM_BIN).lexically_normal().string();
}

bool is_plugin_name(const std::string& name) {
  constexpr size_t longest = 64;
  return !name.empty() && name.size() <= longest && name.front() >= 'a' && name.front() <= 'z' &&
         name.back() != '_' && name.find("__") == std::string::npos &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// "BlueBox" of "blue_box".
std::string in_capitals(const std::string& name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') out += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return out;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// The date of a changelog of Debian's: today, or what $SOURCE_DATE_EPOCH says.
std::string date_of_changelog() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = given == nullptr ? std::time(nullptr) : std::strtoll(given, nullptr, 10);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts)};
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// "kind in c, c++; storage in c++".
std::string templates_there(const fs::path& templates) {
  std::string out;
  for (const std::string& role : folders_in(templates)) {
    if (role == common_folder) continue;
    std::string languages;
    for (const std::string& language : folders_in(templates / role))
      languages += (languages.empty() ? "" : ", ") + language;
    out += (out.empty() ? "" : "; ") + role + " in " + languages;
  }
  return out;
}

Result<std::string> text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Error{Code::unavailable, path.string() + " cannot be read"};
  return text.str();
}

// Lines `word = value`.
void add_words_of(const fs::path& file, Words& words) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t equals = line.find(" =");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    const size_t value = std::min(line.size(), equals + 3);
    words[line.substr(0, equals)] = filled_in(line.substr(value), words);
  }
}

Result<> write_filled(const fs::path& from, const fs::path& to, const Words& words) {
  const auto text = text_of_file(from);
  if (!text.ok()) return text.error();
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  out << filled_in(*text, words);
  out.close();
  if (!out) return Error{Code::unavailable, to.string() + " cannot be written"};
  if (text->starts_with("#!"))
    fs::permissions(to, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, error);
  return {};
}

Result<> copy_template(const fs::path& from, const fs::path& to, const Words& words) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(from, error)) {
    const std::string name = fs::relative(entry.path(), from).string();
    if (!entry.is_regular_file(error) || name == words_file) continue;
    if (auto r = write_filled(entry.path(), to / filled_in(name, words), words); !r.ok()) return r;
  }
  if (error) return Error{Code::unavailable, from.string() + ": " + error.message()};
  return {};
}

int make_new(const NewPlugin& plugin) {
  if (plugin.name.empty()) throw UsageError("names no plugin");
  if (plugin.role.empty()) throw UsageError("needs --role");
  const auto folder = write_new_plugin(plugin, installed_templates());
  if (!folder.ok()) {
    const bool words = folder.error().code == Code::invalid_argument;
    return words ? not_usable("plugin", folder.error()) : failed("plugin", folder.error());
  }
  std::printf(
      "%s: a %s in %s; its README.md says what to change first\n"
      "  cmake -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
      folder->c_str(), plugin.role.c_str(), plugin.language.c_str(), folder->c_str(),
      folder->c_str(), folder->c_str(), folder->c_str());
  return exit_code_done;
}

}  // namespace

std::map<std::string, std::string> words_of_plugin(const std::string& name) {
  constexpr std::string_view prefix = "kind_";
  const std::string kind = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  return {{"name", name}, {"Name", in_capitals(name)}, {"dashed", with_dashes(name)},
          {"kind", kind}, {"Kind", in_capitals(kind)}, {"kind_dashed", with_dashes(kind)}};
}

std::string filled_in(const std::string& text, const std::map<std::string, std::string>& words) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find('@', at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const size_t close = text.find('@', open + 1);
    const auto word = close == std::string::npos
                          ? words.end()
                          : words.find(text.substr(open + 1, close - open - 1));
    out += word == words.end() ? "@" : word->second;
    at = word == words.end() ? open + 1 : close + 1;
  }
  return out;
}

Result<std::string> write_new_plugin(const NewPlugin& plugin, const std::string& templates) {
  if (!is_plugin_name(plugin.name)) {
    return Error{Code::invalid_argument,
                 "\"" + plugin.name +
                     "\" is no name for a plugin: write it in small letters, such as storage_mine"};
  }
  const fs::path all(templates);
  const fs::path from = all / plugin.role / plugin.language;
  const std::string there = templates_there(all);
  if (there.empty()) {
    return Error{Code::failed_precondition,
                 "no templates in " + templates + ": install Davit's SDK (davit-sdk-dev)"};
  }
  std::error_code error;
  const bool known = there.find(plugin.role + " in ") != std::string::npos &&
                     plugin.role != common_folder && fs::is_directory(from, error);
  if (!known) {
    return Error{Code::invalid_argument, "there is no template for a " + plugin.role + " in " +
                                             plugin.language + "; there are: " + there};
  }
  const fs::path to = plugin.directory.empty() ? fs::path(plugin.name) : fs::path(plugin.directory);
  if (fs::exists(to, error) && !(fs::is_directory(to, error) && fs::is_empty(to, error))) {
    return Error{Code::already_exists,
                 to.string() + " is there already: name another folder with --dir"};
  }
  Words words = words_of_plugin(plugin.name);
  words["role"] = plugin.role;
  words["language"] = plugin.language;
  words["author"] = variable("DEBFULLNAME", "Your Name");
  words["email"] = variable("DEBEMAIL", "you@example.com");
  words["date"] = date_of_changelog();
  add_words_of(from / words_file, words);
  for (const fs::path& part : {all / common_folder, from}) {
    if (auto r = copy_template(part, to, words); !r.ok()) return r.error();
  }
  return to.string();
}

std::shared_ptr<Command> plugin_new_verb() {
  auto plugin = std::make_shared<NewPlugin>();
  auto verb = std::make_shared<Command>(
      "new", "NAME --role ROLE [--lang LANGUAGE] [--dir DIR]",
      "write a project that builds, tests and packages a plugin of your own",
      [plugin] { return make_new(*plugin); });
  verb->word("NAME", plugin->name, "of the plugin, such as storage_mine");
  verb->option("--role", "storage|kind|cluster|actuator", plugin->role, "what it is to be");
  verb->option("--lang", "c++|c|rust", plugin->language,
               "c++ when absent; not every role is there in each");
  verb->option("--dir", "DIR", plugin->directory, "the new folder; NAME when absent");
  verb->examples({"davit plugin new storage_mine --role storage",
                  "davit plugin new kind_box --role kind --lang c --dir box"});
  return verb;
}

}  // namespace davit::host
