#include "keys.hpp"

namespace davit::secrets_file {
namespace {

constexpr size_t checksum_bytes = 4;
constexpr size_t framed_bytes = crypto_box_SECRETKEYBYTES + checksum_bytes;
constexpr int base64_form = sodium_base64_VARIANT_ORIGINAL;
static_assert(crypto_box_PUBLICKEYBYTES == crypto_box_SECRETKEYBYTES);
static_assert(public_word.size() + framed_bytes / 3 * 4 == key_text_size);

Error key_fault(const std::string& what) {
  return {Code::invalid_argument, what};
}

// Writes the checksum behind the key.
void add_checksum(std::string_view word, unsigned char* framed) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, hash.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(word.data()),
                            word.size());
  crypto_generichash_update(&state, framed, crypto_box_SECRETKEYBYTES);
  crypto_generichash_final(&state, hash.data(), hash.size());
  std::memcpy(framed + crypto_box_SECRETKEYBYTES, hash.data(), checksum_bytes);
  sodium_memzero(&state, sizeof state);
}

// `out` has room for the text and a terminating zero.
void write_text(std::string_view word, const unsigned char* key, char* out) {
  LockedBytes framed(framed_bytes);
  std::memcpy(framed.data(), key, crypto_box_SECRETKEYBYTES);
  add_checksum(word, framed.data());
  std::memcpy(out, word.data(), word.size());
  sodium_bin2base64(out + word.size(), key_text_size - word.size() + 1, framed.data(),
                    framed.size(), base64_form);
}

// The key of a text that begins with the word.
Result<LockedBytes> read_text(std::string_view word, std::string_view text) {
  const Error damaged = key_fault("is damaged: a letter is wrong or missing");
  if (text.size() != key_text_size) return damaged;
  text.remove_prefix(word.size());
  LockedBytes framed(framed_bytes), again(framed_bytes);
  size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(framed.data(), framed.size(), text.data(), text.size(), nullptr, &size,
                        &end, base64_form) != 0 ||
      size != framed_bytes || end != text.data() + text.size())
    return damaged;
  std::memcpy(again.data(), framed.data(), framed_bytes);
  add_checksum(word, again.data());
  if (sodium_memcmp(framed.data(), again.data(), framed_bytes) != 0) return damaged;
  framed.shorten(crypto_box_SECRETKEYBYTES);
  return framed;
}

std::string_view without_space(std::string_view line) {
  constexpr std::string_view space = " \t\r";
  const size_t first = line.find_first_not_of(space);
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(space) - first + 1);
}

}  // namespace

std::string PublicKey::text() const {
  std::string out(key_text_size + 1, '\0');
  write_text(public_word, bytes.data(), out.data());
  out.pop_back();
  return out;
}

Result<PublicKey> parse_public_key(std::string_view text) {
  if (text.starts_with(secret_word))
    return key_fault("is a private key, where a public one is needed");
  if (!text.starts_with(public_word))
    return key_fault("is no public key of davit-seal: it begins with \"" +
                     std::string(public_word) + "\"");
  const auto key = read_text(public_word, text);
  if (!key.ok()) return key.error();
  PublicKey out;
  std::memcpy(out.bytes.data(), key->data(), out.bytes.size());
  return out;
}

KeyPair::KeyPair(LockedBytes secret) : secret_(std::move(secret)) {
  crypto_scalarmult_base(public_.bytes.data(), secret_.data());
}

KeyPair KeyPair::generate() {
  LockedBytes secret(crypto_box_SECRETKEYBYTES);
  randombytes_buf(secret.data(), secret.size());
  return KeyPair(std::move(secret));
}

Result<KeyPair> KeyPair::parse(std::string_view secret_text) {
  if (secret_text.starts_with(public_word))
    return key_fault("is a public key, where a private one is needed");
  if (!secret_text.starts_with(secret_word))
    return key_fault("is no private key of davit-seal: it begins with \"" +
                     std::string(secret_word) + "\"");
  auto secret = read_text(secret_word, secret_text);
  if (!secret.ok()) return secret.error();
  return KeyPair(std::move(*secret));
}

LockedBytes KeyPair::secret_text() const {
  LockedBytes out(key_text_size + 1);
  write_text(secret_word, secret_.data(), reinterpret_cast<char*>(out.data()));
  out.shorten(key_text_size);
  return out;
}

Result<Keys> parse_keys(std::string_view content) {
  Keys out;
  for (size_t number = 1; !content.empty(); ++number) {
    const size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = without_space(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.empty() || line.front() == '#') continue;
    auto pair = KeyPair::parse(line);
    if (!pair.ok()) return pair.error().in("line " + std::to_string(number));
    if (out.size() == keys_max)
      return key_fault("has more than " + std::to_string(keys_max) +
                       " keys: remove those that nothing is sealed for any more");
    out.push_back(std::move(*pair));
  }
  if (out.empty()) return key_fault("has no key: make one with davit-seal keygen");
  return out;
}

LockedBytes key_file_lines(const KeyPair& pair, std::string_view date) {
  const std::string comment =
      "# created: " + std::string(date) + "\n# public key: " + pair.open().text() + "\n";
  LockedBytes out(comment.size() + key_text_size + 1);
  std::memcpy(out.data(), comment.data(), comment.size());
  std::memcpy(out.data() + comment.size(), pair.secret_text().data(), key_text_size);
  out.data()[out.size() - 1] = '\n';
  return out;
}

}  // namespace davit::secrets_file
