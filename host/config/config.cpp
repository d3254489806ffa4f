#include "config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "merge.hpp"
#include "suggest.hpp"
#include "toml.hpp"

namespace davit::host {
namespace {

constexpr size_t file_bytes_max = 16 << 20;  // a configuration larger than this is a mistake

// An instance's name becomes the name of a directory, a thread and a label, so only harmless
// characters are allowed.
bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= 64 &&
         std::all_of(
             s.begin(), s.end(),
             [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }) &&
         s.front() != '_' && (s.front() < '0' || s.front() > '9');
}

bool read_file(const std::string& path, std::string& text, Faults& faults) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    faults.add(path, "", std::strerror(errno));
    return false;
  }
  // Reads in pieces: a buffer for the largest file would stay allocated.
  for (std::vector<char> piece(64 << 10); in && text.size() <= file_bytes_max;) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) {
    faults.add(path, "", "cannot be read");
    return false;
  }
  if (text.size() > file_bytes_max) {
    faults.add(path, "", "is larger than 16 MiB");
    return false;
  }
  return true;
}

// "server.conf.d" is a folder by its name. It need not be there.
bool is_absent_folder(const std::string& path) {
  const std::string_view name(path.data(), path.find_last_not_of('/') + 1);
  std::error_code error;
  return name.ends_with(".d") &&
         std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found;
}

std::vector<std::string> files_of(const std::string& path, Faults& faults) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (is_absent_folder(path)) return {};
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> out;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") out.push_back(it->path().string());
  }
  if (error) faults.add(path, "", error.message());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Config::Config() : root_(std::make_unique<Node>()) {
  root_->read = true;
}

Config Config::load(const std::vector<std::string>& paths, Faults& faults) {
  Config config;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path, faults)) {
      std::string text;
      if (!read_file(file, text, faults)) continue;
      config.files_.push_back(file);
      if (auto tree = parse_toml(text, file, faults)) merge(*config.root_, std::move(tree));
    }
  }
  return config;
}

Config Config::parse(std::string_view text, std::string_view name, Faults& faults) {
  Config config;
  config.files_.emplace_back(name);
  if (auto tree = parse_toml(text, name, faults)) merge(*config.root_, std::move(tree));
  return config;
}

Table Config::table(std::string_view name, Faults& faults) const {
  return Table(root_.get(), "", &faults).table(name);
}

std::vector<const Node*> Config::plugins(Faults& faults) const {
  std::vector<const Node*> out;
  const Node* all = root_->ask("plugin");
  if (all == nullptr) return out;
  if (all->type != Node::Type::table) {
    all->reject(faults, "must be a table: [plugin.NAME]");
    return out;
  }
  for (const auto& child : all->children) {
    child->read = true;
    if (child->type != Node::Type::table) {
      child->reject(faults, "must be a table: [plugin.NAME]");
    } else if (!is_name(child->name)) {
      child->reject(faults, "an instance's name is lower_snake_case, at most 64 letters");
    } else {
      out.push_back(child.get());
    }
  }
  return out;
}

void Config::reject_unread(Faults& faults) const {
  host::reject_unread(*root_, faults);
}

}  // namespace davit::host
