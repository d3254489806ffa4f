// What the configuration says of a HashiCorp Vault or an OpenBao: which engines have what, and how
// Davit logs in.
#pragma once

#include "secret_store/settings.hpp"

namespace davit::secrets_transit {

struct TransitSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static TransitSettings read(const Settings& settings);

  enum class Auth : uint8_t { token, approle, kubernetes };

  std::string transit_mount, kv_mount;  // without "/" at the ends
  std::string key;                      // the transit key of a keyring: "davit-{keyring}"
  std::string kv_folder;                // of a keyring's references; empty: there are none
  std::string vault_namespace;          // empty: none
  Auth auth = Auth::token;
  std::string token_file;            // of token
  std::string auth_mount;            // of the others
  std::string role;                  // approle: the role's id; kubernetes: its name
  std::string secret_id_file;        // of approle
  std::string service_account_file;  // of kubernetes: a token
};

// Stands for the keyring in `key` and `kv_folder`.
constexpr std::string_view keyring_mark = "{keyring}";

}  // namespace davit::secrets_transit
