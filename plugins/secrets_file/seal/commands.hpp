// What the commands of davit-seal do. Each reads standard input and writes standard output as its
// help says; an error has not written a part of a value.
#pragma once

#include <optional>
#include <string>

#include "davit/types.hpp"

namespace davit::secrets_file {

struct KeygenOptions {
  std::string file;  // empty: standard output
  bool add = false;
};
Result<> keygen(const KeygenOptions& options);

struct PublicOptions {
  std::string file;
  bool all = false;
};
Result<> show_public(const PublicOptions& options);

struct EncryptOptions {
  std::string key;  // a public key, or a file with some
  std::string keyring;
  std::optional<std::string> ref;
  bool trim = false;
};
Result<> encrypt(const EncryptOptions& options);

struct DecryptOptions {
  std::string key_file;
  std::optional<std::string> keyring, ref;  // what the value must be for; nothing: anything
};
Result<> decrypt(const DecryptOptions& options);

struct ReencryptOptions {
  std::string key_file;
};
Result<> reencrypt(const ReencryptOptions& options);

}  // namespace davit::secrets_file
