// Resolves one item at a time: which keys open it, what it must be for, how large it may be.
//
// A call hands its items over in the order of their keyrings and refs. So its CallState needs room
// for the keys of one keyring and for one file, and items of one file are of one version of it.
#pragma once

#include "davit/secrets.hpp"
#include "keyrings.hpp"
#include "sealed.hpp"
#include "sealed_directory.hpp"

namespace davit::secrets_file {

// What is in memory for a call between two items.
struct CallState {
  struct Keyring {
    std::string name;
    SharedKeys keys;
  };
  struct File {
    std::string keyring, ref;
    Opened opened;
    std::string version;
  };
  std::optional<Keyring> keyring;  // may be forgotten at any time
  std::optional<File> file;
  size_t bytes = 0;  // of all values
};

class Resolver {
 public:
  // `keyrings` outlives it.
  Resolver(Keyrings& keyrings, SealedDirectory directory, size_t value_bytes_max);

  // RESOURCE_EXHAUSTED: the values of the call are too large together. Other codes are those of
  // rule X4. [pool]
  Result<secrets::Value> resolve(const secrets::Item& item, CallState& state) const;

 private:
  Result<secrets::Value> decrypt(const secrets::Item& item, CallState& state) const;
  Result<secrets::Value> read(const secrets::Item& item, CallState& state) const;
  // Sees to it that the state has the item's file.
  Result<> open_file(const secrets::Item& item, CallState& state) const;
  Result<Opened> open(const Sealed& sealed, const SealedFor& wanted, CallState& state) const;
  Result<Sealed> parse(std::string_view sealed) const;
  SharedKeys keys_of(const std::string& keyring, CallState& state) const;
  Result<secrets::Value> value(std::string_view plaintext, const std::string& version,
                               CallState& state) const;
  Error too_large() const;

  Keyrings& keyrings_;
  const SealedDirectory directory_;
  const size_t value_bytes_max_, call_bytes_max_;
};

}  // namespace davit::secrets_file
