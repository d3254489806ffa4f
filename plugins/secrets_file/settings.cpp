#include "settings.hpp"

#include <filesystem>

#include "davit/settings.hpp"

namespace davit::secrets_file {
namespace {

// The folder of the configuration file that has this key, to which a relative path is relative.
std::filesystem::path folder_of(const Host& host, const char* key) {
  const auto* config = host.service<davit_config>(DAVIT_CONFIG);
  const auto* node = config->get(config->root(host.abi()), str(key));
  const std::string where = text(config->where(node));  // "agent.toml:12"
  return std::filesystem::absolute(where.substr(0, where.rfind(':'))).parent_path();
}

// An absolute path. Empty: the key is absent, or its value has been rejected.
std::string path(const Host& host, const Settings& settings, const char* key) {
  const auto value = settings.optional_string(key);
  if (!value) return {};
  if (value->empty() || value->find('\0') != std::string::npos) {
    settings.reject(key, value->empty() ? "must not be empty" : "must not contain a zero byte");
    return {};
  }
  if (value->starts_with(credential_word)) return *value;
  return (folder_of(host, key) / *value).lexically_normal().string();
}

}  // namespace

FileSettings FileSettings::read(const Host& host) {
  const Settings settings(host);
  FileSettings out;
  out.key_file = path(host, settings, "key_file");
  out.keyrings_dir = path(host, settings, "keyrings_dir");
  out.directory = path(host, settings, "directory");
  for (const char* key : {"keyrings_dir", "directory"}) {
    if (settings.has(key) && settings.string(key).starts_with(credential_word))
      settings.reject(key, "is a folder, and a credential is a file");
  }
  if (!settings.has("key_file") && !settings.has("keyrings_dir")) {
    settings.reject("key_file",
                    "is missing, and so is keyrings_dir: one of them says where the private keys "
                    "are (davit-seal keygen makes one)");
  }
  out.value_bytes_max = static_cast<size_t>(
      settings.integer("value_bytes_max", value_bytes_default, 1, value_bytes_limit));
  return out;
}

}  // namespace davit::secrets_file
