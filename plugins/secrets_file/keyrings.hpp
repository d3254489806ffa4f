// The private keys of each keyring: those of its own file in keyrings_dir when there is one,
// otherwise those of key_file. They are read anew for each call that needs them. So a file that was
// replaced holds at once, and no key stays in memory between two calls.
#pragma once

#include <memory>

#include "key_news.hpp"

namespace davit::secrets_file {

using SharedKeys = Result<std::shared_ptr<const Keys>>;

class Keyrings {
 public:
  // Paths as in FileSettings.
  Keyrings(Host host, std::string key_file, std::string keyrings_dir);

  // NOT_FOUND: there is no such keyring. PERMISSION_DENIED, UNAVAILABLE: the file with its keys
  // cannot be read, or is none; log and health say so, too. [pool]
  SharedKeys read(const std::string& keyring);

  // Reads all files with keys, and returns what is wrong with the first that is of no use. With
  // `tell`, log and health say what was read. [pool]
  Result<> read_all(bool tell);

 private:
  Result<Keys> read_key_file() const;
  // NOT_FOUND: the keyring has no file of its own.
  Result<Keys> read_own(const std::string& keyring) const;
  std::string own_file(const std::string& keyring) const;
  // The keyrings that have a file of their own.
  Result<std::vector<std::string>> names() const;
  SharedKeys told(const std::string& file, Result<Keys> keys);

  const Host host_;
  const std::string key_file_, keyrings_dir_;
  KeyNews news_;
};

}  // namespace davit::secrets_file
