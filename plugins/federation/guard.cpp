#include "guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace davit::federation {
namespace {

namespace json = boost::json;

std::string file_in(const std::string& directory) {
  return directory + "/held.json";
}

std::string name_of(const std::string& resource, const std::string& ns) {
  return resource + " " + ns;
}

// Whole or not at all, also after a crash of the machine.
Result<> write_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".new";
  const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Error{Code::unavailable, next + ": " + std::strerror(errno)};
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fsync(fd) == 0;
  const std::string why = written ? "" : std::strerror(errno);
  ::close(fd);
  if (!written) return Error{Code::unavailable, next + ": " + why};
  if (std::rename(next.c_str(), path.c_str()) != 0)
    return Error{Code::unavailable, path + ": " + std::strerror(errno)};
  return {};
}

}  // namespace

bool holds(const GuardLimits& limits, size_t deletes, size_t copies) {
  return deletes > limits.deletes_max && deletes * 100 > limits.deletes_max_percent * copies;
}

void Holds::load() {
  auto directory = host_.state_directory(false);
  if (!directory.ok()) return;
  std::ifstream file(file_in(*directory));
  if (!file) return;
  std::ostringstream text;
  text << file.rdbuf();
  boost::system::error_code bad;
  const json::value value = json::parse(text.str(), bad);
  if (bad || !value.is_object()) {
    host_.error("what was held cannot be read: the next lists decide anew",
                {{"file", file_in(*directory)}});
    return;
  }
  for (const auto& [name, keys] : value.get_object()) {
    if (!keys.is_array()) continue;
    for (const json::value& key : keys.get_array())
      if (key.is_string()) held_[name].emplace(key.get_string());
  }
}

Holds::Keys Holds::of(const std::string& resource, const std::string& ns) const {
  const auto it = held_.find(name_of(resource, ns));
  return it == held_.end() ? Keys() : it->second;
}

void Holds::set(const std::string& resource, const std::string& ns, const Keys& keys) {
  Keys& held = held_[name_of(resource, ns)];
  if (held == keys) return;
  held = keys;
  if (keys.empty()) held_.erase(name_of(resource, ns));
  save();
}

void Holds::save() {
  json::object text;
  for (const auto& [name, keys] : held_) {
    json::array& list = text[name].emplace_array();
    for (const std::string& key : keys) list.emplace_back(key);
  }
  auto directory = host_.state_directory(true);
  auto saved = directory.ok() ? write_file(file_in(*directory), json::serialize(text))
                              : Result<>(directory.error());
  if (!saved.ok()) {
    host_.error("what is held cannot be kept: a restart decides anew",
                {{"reason", saved.error().message}});
  }
}

}  // namespace davit::federation
