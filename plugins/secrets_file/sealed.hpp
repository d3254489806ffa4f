// A sealed value: what whoever has the public key makes of a plaintext, and only the private key
// opens. README.md has the form, byte by byte.
//
// A sealed box has no associated data. So what it is for stands in front of the value inside the
// box, and whoever opens it compares. Otherwise one could take a box that one may not open out of a
// record of others, name a keyring or a file of one's own, and have the agent open it.
#pragma once

#include "keys.hpp"

namespace davit::secrets_file {

// The keyring of an item to decrypt, or the ref of one to read. A name that is not used is empty.
struct SealedFor {
  std::string keyring, ref;
  bool operator==(const SealedFor&) const = default;
};
constexpr size_t name_bytes_max = 1024;  // of each

// Of the bytes of a sealed value. Base64 makes four letters of three.
constexpr size_t mark_bytes = 9;
constexpr size_t name_size_bytes = 2;
constexpr size_t overhead_min = mark_bytes + crypto_box_SEALBYTES + 2 * name_size_bytes;
constexpr size_t overhead_max = overhead_min + 2 * name_bytes_max;
// A sealed text of a value of so many bytes is no longer, unless it is mostly white space.
constexpr size_t sealed_text_bytes_max(size_t value_bytes) {
  return 2 * (value_bytes + overhead_max);
}

// What came out of a box.
class Opened {
 public:
  // Takes it apart. INVALID_ARGUMENT: no davit-seal has made it.
  static Result<Opened> parse(LockedBytes payload);

  const SealedFor& made_for() const { return made_for_; }
  // Borrowed: valid while this lives.
  std::string_view value() const { return payload_.view().substr(value_at_); }

 private:
  SealedFor made_for_;
  LockedBytes payload_;
  size_t value_at_ = 0;
};

class Sealed {
 public:
  // Seals a value. INVALID_ARGUMENT: a name is too long, or the key is none of the curve.
  static Result<Sealed> make(const PublicKey& key, const SealedFor& made_for,
                             std::string_view value);
  // Reads base64 text, in which white space says nothing, or the bytes themselves.
  // INVALID_ARGUMENT says what is wrong, and shows nothing of it.
  static Result<Sealed> parse(std::string_view text_or_bytes);

  // Tries the newest key first. INVALID_ARGUMENT: none of them opens it.
  Result<Opened> open(const Keys& keys) const;

  std::string text() const;
  std::string_view bytes() const { return bytes_; }
  // How large the value can be at most, before anything is opened.
  size_t value_bytes_most() const { return bytes_.size() - overhead_min; }
  // The same for the same box, and for no other: 32 hexadecimal digits. It is made of what is
  // sealed, so it is no help in guessing the value.
  std::string version() const;

 private:
  explicit Sealed(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

}  // namespace davit::secrets_file
