#include "sealed.hpp"

#include <algorithm>
#include <array>

#include "davit/base64.hpp"

namespace davit::secrets_file {
namespace {

// In base64 these letters stand for nine bytes. So a sealed value begins with a word that people
// recognize, and a later version of the form with another one.
constexpr std::string_view mark_family = "davitSeal/", mark = "davitSeal/1/";
static_assert(mark.size() / 4 * 3 == mark_bytes);

Error sealed_fault(const char* what) {
  return {Code::invalid_argument, what};
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// The letters that the first bytes are in base64.
std::string mark_of(std::string_view bytes) {
  return base64(bytes.substr(0, mark_bytes));
}

// Empty: a mark of this version.
const char* mark_fault(std::string_view letters) {
  if (letters == mark) return nullptr;
  if (letters.starts_with(mark_family))
    return "is of another version than \"davitSeal/1/\", the one that this davit has";
  return "does not begin with \"davitSeal/1/\": it was not made with davit-seal encrypt";
}

Result<std::string> decoded(std::string_view text) {
  std::string letters(text);
  std::erase_if(letters, is_space);
  if (letters.empty()) return sealed_fault("is empty");
  std::string begin = letters.substr(0, mark.size());
  std::replace(begin.begin(), begin.end(), '_', '/');  // the other alphabet of base64
  if (const char* fault = mark_fault(begin)) return sealed_fault(fault);
  auto bytes = from_base64(letters);
  if (!bytes) return sealed_fault("is damaged: it is not base64 after \"davitSeal/1/\"");
  return std::move(*bytes);
}

size_t put_name(unsigned char* at, std::string_view name) {
  at[0] = static_cast<unsigned char>(name.size() >> 8);
  at[1] = static_cast<unsigned char>(name.size() & 0xff);
  std::copy(name.begin(), name.end(), at + name_size_bytes);
  return name_size_bytes + name.size();
}

// Takes a name from the front.
bool take_name(std::string_view& rest, std::string& name) {
  if (rest.size() < name_size_bytes) return false;
  const size_t size = static_cast<size_t>(octets(rest)[0]) << 8 | octets(rest)[1];
  rest.remove_prefix(name_size_bytes);
  if (size > name_bytes_max || rest.size() < size) return false;
  name = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

}  // namespace

Result<Opened> Opened::parse(LockedBytes payload) {
  Opened out;
  std::string_view rest = payload.view();
  if (!take_name(rest, out.made_for_.keyring) || !take_name(rest, out.made_for_.ref))
    return sealed_fault("does not say what it is for: it was not made with davit-seal encrypt");
  out.value_at_ = payload.size() - rest.size();
  out.payload_ = std::move(payload);
  return out;
}

Result<Sealed> Sealed::make(const PublicKey& key, const SealedFor& made_for,
                            std::string_view value) {
  if (made_for.keyring.size() > name_bytes_max || made_for.ref.size() > name_bytes_max)
    return Error{Code::invalid_argument, "the name of a keyring or a ref has more than " +
                                             std::to_string(name_bytes_max) + " bytes"};
  LockedBytes payload(2 * name_size_bytes + made_for.keyring.size() + made_for.ref.size() +
                      value.size());
  size_t at = put_name(payload.data(), made_for.keyring);
  at += put_name(payload.data() + at, made_for.ref);
  std::copy(value.begin(), value.end(), payload.data() + at);
  std::string bytes = *from_base64(mark);
  bytes.resize(mark_bytes + payload.size() + crypto_box_SEALBYTES);
  auto* box = reinterpret_cast<unsigned char*>(bytes.data()) + mark_bytes;
  if (crypto_box_seal(box, payload.data(), payload.size(), key.bytes.data()) != 0)
    return sealed_fault(
        "nothing can be sealed for this public key: make one with davit-seal keygen");
  return Sealed(std::move(bytes));
}

Result<Sealed> Sealed::parse(std::string_view text_or_bytes) {
  std::string bytes;
  // The mark's bytes are no text, so the two forms cannot be confused.
  if (const std::string begin = mark_of(text_or_bytes); begin.starts_with(mark_family)) {
    if (const char* fault = mark_fault(begin)) return sealed_fault(fault);
    bytes = text_or_bytes;
  } else {
    auto text = decoded(text_or_bytes);
    if (!text.ok()) return text.error();
    bytes = std::move(*text);
  }
  if (bytes.size() < overhead_min) return sealed_fault("is cut short");
  return Sealed(std::move(bytes));
}

Result<Opened> Sealed::open(const Keys& keys) const {
  const std::string_view box = bytes().substr(mark_bytes);
  LockedBytes payload(box.size() - crypto_box_SEALBYTES);
  const bool opened = std::any_of(keys.rbegin(), keys.rend(), [&](const KeyPair& pair) {
    return crypto_box_seal_open(payload.data(), octets(box), box.size(), pair.open().bytes.data(),
                                pair.secret()) == 0;
  });
  if (!opened)
    return sealed_fault("cannot be opened: it was sealed for another key, or is damaged");
  return Opened::parse(std::move(payload));
}

std::string Sealed::text() const {
  return base64(bytes_);
}

std::string Sealed::version() const {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash{};
  crypto_generichash(hash.data(), hash.size(), octets(bytes_), bytes_.size(), nullptr, 0);
  std::array<char, 2 * crypto_generichash_BYTES_MIN + 1> digits{};
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  return digits.data();
}

}  // namespace davit::secrets_file
