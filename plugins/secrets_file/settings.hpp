// What the configuration says: where keys and sealed files are, and how large a value may be.
#pragma once

#include "davit/host.hpp"

namespace davit::secrets_file {

constexpr int64_t value_bytes_default = 1 << 20, value_bytes_limit = 16 << 20;

struct FileSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static FileSettings read(const Host& host);

  // Absolute paths; empty: not set. `key_file` may be "credential:NAME".
  std::string key_file, keyrings_dir, directory;
  size_t value_bytes_max = value_bytes_default;
};

constexpr std::string_view credential_word = "credential:";

}  // namespace davit::secrets_file
