// Names: which key, or which secret of the KV engine, an item means. Nothing that an item says can
// lead out of what its keyring may use. Pure.
//
//   DECRYPT  "vault:v1:..."                 by the transit key of the keyring
//   DECRYPT  "kv:PATH#FIELD@VERSION"        a secret in the keyring's folder (kv_folder)
//   READ     ref PATH, field, version       a secret of the KV engine
#pragma once

#include "secret_store/batch.hpp"
#include "settings.hpp"

namespace davit::secrets_transit {

using secret_store::Batch;

// Names with "/" between them, none of which is empty, "." or "..".
bool is_path(std::string_view text);
bool is_key_name(std::string_view text);
std::string with_keyring(std::string text, std::string_view keyring);

// Where a group of items is to be had.
struct Place {
  bool read = false;    // of the KV engine, rather than decrypted
  std::string name;     // of the key, or path of the secret
  std::string version;  // of the secret; empty: the newest
};
std::string group_of(const Place& place);
Place place_of(std::string_view group);

// `bytes_max`: of the item's texts. The text of what is read is the field; empty: the only one.
Result<Batch::Asked> asked_by(const secrets::Item& item, const TransitSettings& settings,
                              size_t bytes_max);

// As a path stands in a URL.
std::string url_path(std::string_view path);

}  // namespace davit::secrets_transit
