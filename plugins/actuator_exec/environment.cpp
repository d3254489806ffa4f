#include "environment.hpp"

#include <algorithm>
#include <cstdlib>

namespace davit::actuator_exec {
namespace {

constexpr const char* usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// Shorter values, such as "1" or "yes", are no secrets.
constexpr size_t least_covered = 4;

}  // namespace

void Environment::wipe(std::vector<std::string>& entries) {
  for (auto& entry : entries) explicit_bzero(entry.data(), entry.size());
  entries.clear();
}

std::string path_of(const ExecSettings& settings) {
  for (const auto& entry : settings.environment)
    if (entry.first == "PATH") return entry.second;
  const auto& names = settings.environment_names;
  const char* own = std::getenv("PATH");
  if (own != nullptr && std::find(names.begin(), names.end(), "PATH") != names.end()) return own;
  return usual_path;
}

Result<Environment> environment_of(const ExecSettings& settings, const Host& host) {
  Environment out;
  out.entries.push_back("PATH=" + path_of(settings));
  const auto add = [&](const std::string& name, std::string_view value, size_t least) {
    if (name == "PATH") return;
    std::string entry = name + "=";
    entry += value;
    out.entries.push_back(std::move(entry));
    out.covers.add(name, value, least);
  };
  for (const auto& name : settings.environment_names) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr)
      add(name, value, least_covered);
  }
  for (const auto& entry : settings.environment) add(entry.first, entry.second, least_covered);
  for (const auto& entry : settings.environment_files) {
    const auto read = host.credential(entry.second);
    Error refused{Code::failed_precondition, "", "environment_files." + entry.first};
    if (!read.ok()) {
      refused.message = "the file of " + entry.first + ": " + read.error().message;
    } else if (read->view().find('\0') != std::string_view::npos) {
      refused.message = "the file of " + entry.first + " contains a zero byte";
    } else {
      add(entry.first, read->view(), 1);
      continue;
    }
    Environment::wipe(out.entries);
    return refused;
  }
  return out;
}

}  // namespace davit::actuator_exec
