// Key pairs of X25519, and how people write them. A key is a line of 62 letters:
//
//   davitPublic/1/ or davitSecret/1/, then base64 of the key's 32 bytes and a checksum of 4 bytes
//
// The checksum is of the word and the key, so a letter that was lost or mistyped is noticed before
// anything is sealed for a key that nobody has.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "davit/types.hpp"
#include "locked_bytes.hpp"

namespace davit::secrets_file {

constexpr std::string_view public_word = "davitPublic/1/", secret_word = "davitSecret/1/";
constexpr size_t key_text_size = 62;
// Each key of a file may have to be tried for each value.
constexpr size_t keys_max = 64;
constexpr size_t key_file_bytes_max = 64 << 10;

struct PublicKey {
  std::array<unsigned char, crypto_box_PUBLICKEYBYTES> bytes{};

  std::string text() const;
  bool operator==(const PublicKey&) const = default;
};

// INVALID_ARGUMENT says what is wrong, and shows nothing of the text.
Result<PublicKey> parse_public_key(std::string_view text);

class KeyPair {
 public:
  // Throws std::bad_alloc.
  static KeyPair generate();
  static Result<KeyPair> parse(std::string_view secret_text);

  const PublicKey& open() const { return public_; }
  const unsigned char* secret() const { return secret_.data(); }
  LockedBytes secret_text() const;

 private:
  explicit KeyPair(LockedBytes secret);
  LockedBytes secret_;
  PublicKey public_;
};

// The pairs of one key file, at least one. The file's last line has the newest.
using Keys = std::vector<KeyPair>;

// Reads the lines of a key file. Empty lines and those that begin with # say nothing. An error is
// INVALID_ARGUMENT, names the line, and shows nothing of it.
Result<Keys> parse_keys(std::string_view content);

// What a key file has of one pair: a comment with the date and the public key, then the private
// key.
LockedBytes key_file_lines(const KeyPair& pair, std::string_view date);

}  // namespace davit::secrets_file
