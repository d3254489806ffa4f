#include "settings.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace davit::actuator_exec {
namespace {

// The folder of the configuration file that has this key, to which a relative path is relative.
std::filesystem::path folder_of(const Host& host, const char* key) {
  const auto* config = host.service<davit_config>(DAVIT_CONFIG);
  const auto* node = config->get(config->root(host.abi()), str(key));
  const std::string where = text(config->where(node));  // "clusters.toml:12"
  return std::filesystem::absolute(where.substr(0, where.rfind(':'))).parent_path();
}

bool has_zero(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

std::vector<std::string> read_command(const Host& host, const Settings& settings) {
  auto out = settings.strings("command");
  if (!settings.has("command")) {
    settings.reject("command", "is missing: the program and its arguments, an array of strings");
  } else if (out.empty() || out[0].empty()) {
    settings.reject("command", "must begin with the program");
  } else if (std::any_of(out.begin(), out.end(), has_zero)) {
    settings.reject("command", "must not contain a zero byte");
  } else if (out[0].find('/') != std::string::npos) {
    out[0] = (folder_of(host, "command") / out[0]).lexically_normal().string();
  }
  return out;
}

bool is_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

void check_names(const Settings& settings, const ExecSettings& read) {
  std::set<std::string> seen;
  const auto check = [&](const char* key, const std::string& name) {
    if (!is_name(name)) {
      settings.reject(key, "\"" + name + "\" is no name of an environment variable");
    } else if (!seen.insert(name).second) {
      settings.reject(key, "\"" + name + "\" is set more than once");
    }
  };
  for (const auto& name : read.environment_names) check("environment_names", name);
  for (const auto& entry : read.environment) {
    check("environment", entry.first);
    if (has_zero(entry.second)) settings.reject("environment", "must not contain a zero byte");
  }
  for (const auto& entry : read.environment_files) {
    check("environment_files", entry.first);
    if (entry.second.empty() || has_zero(entry.second))
      settings.reject("environment_files", "\"" + entry.first + "\" must be the path of a file");
  }
}

}  // namespace

ExecSettings ExecSettings::read(const Host& host) {
  const Settings settings(host);
  ExecSettings out;
  out.command = read_command(host, settings);
  out.working_directory = settings.string("working_directory", "");
  if (has_zero(out.working_directory)) {
    settings.reject("working_directory", "must not contain a zero byte");
  } else if (!out.working_directory.empty()) {
    out.working_directory =
        (folder_of(host, "working_directory") / out.working_directory).lexically_normal().string();
  }
  out.environment_names = settings.strings("environment_names");
  out.environment = settings.table("environment").entries();
  out.environment_files = settings.table("environment_files").entries();
  check_names(settings, out);
  out.timeout = settings.milliseconds("timeout_ms", out.timeout, 1);
  out.kill_grace = settings.milliseconds("kill_grace_ms", out.kill_grace, 0, 600'000);
  const auto size = [&](const char* key, size_t fallback, int64_t min, int64_t max) {
    return static_cast<size_t>(settings.integer(key, static_cast<int64_t>(fallback), min, max));
  };
  out.output_bytes_max = size("output_bytes_max", out.output_bytes_max, 1, 64 << 20);
  out.concurrency_max = size("concurrency_max", out.concurrency_max, 1, 64);
  out.waiting_max = size("waiting_max", out.waiting_max, 0, 100'000);
  out.providers = settings.strings("providers");
  for (const auto& provider : out.providers)
    if (provider.empty()) settings.reject("providers", "must not contain an empty text");
  return out;
}

}  // namespace davit::actuator_exec
