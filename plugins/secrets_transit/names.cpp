#include "names.hpp"

#include <algorithm>

#include "davit/utf8.hpp"

namespace davit::secrets_transit {
namespace {

constexpr std::string_view sealed_prefix = "vault:v", reference_prefix = "kv:";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

Error unusable(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

// "1:ABCD==", behind "vault:v"
bool is_sealed(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == text.npos || colon + 1 == text.size()) return false;
  const auto version = text.substr(0, colon), body = text.substr(colon + 1);
  return std::all_of(version.begin(), version.end(), is_digit) &&
         std::all_of(body.begin(), body.end(), [](char c) {
           return is_word(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == ':';
         });
}

// A number that is no 0, which would mean the newest.
bool is_version(std::string_view text) {
  return text.size() <= 9 && !text.empty() && text[0] != '0' &&
         std::all_of(text.begin(), text.end(), is_digit);
}

Result<Batch::Asked> read_of(std::string path, std::string_view field, std::string version) {
  if (!is_path(path)) return unusable("the secret's path is no path");
  if (!version.empty() && !is_version(version))
    return unusable("the secret's version is no number from 1 on");
  if (!valid_utf8(field)) return unusable("the field's name is no UTF-8");
  return Batch::Asked{group_of({true, std::move(path), std::move(version)}), field};
}

// `text` is what stands behind "kv:".
Result<Batch::Asked> referred(const secrets::Item& item, std::string_view text,
                              const TransitSettings& settings) {
  if (settings.kv_folder.empty())
    return unusable("references to the KV engine are turned off (kv_folder)");
  const size_t hash = text.find('#');
  std::string_view path = text.substr(0, hash);
  std::string_view field = hash == text.npos ? std::string_view() : text.substr(hash + 1);
  std::string_view& last = hash == text.npos ? path : field;
  std::string version;
  if (const size_t at = last.rfind('@'); at != last.npos) {
    version = last.substr(at + 1);
    last = last.substr(0, at);
    if (version.empty()) return unusable("the reference ends with \"@\", and names no version");
  }
  if (!is_path(path)) return unusable("the reference's path is no path");
  return read_of(with_keyring(settings.kv_folder, item.keyring) + "/" + std::string(path), field,
                 std::move(version));
}

}  // namespace

bool is_path(std::string_view text) {
  if (!valid_utf8(text)) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 127 || c == '\\') return false;
  }
  for (;;) {
    const std::string_view name = text.substr(0, text.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    if (name.size() == text.size()) return true;
    text.remove_prefix(name.size() + 1);
  }
}

// As Vault has it: a word at both ends.
bool is_key_name(std::string_view text) {
  return !text.empty() && is_word(text.front()) && is_word(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

std::string with_keyring(std::string text, std::string_view keyring) {
  for (size_t at = text.find(keyring_mark); at != text.npos;
       at = text.find(keyring_mark, at + keyring.size()))
    text.replace(at, keyring_mark.size(), keyring);
  return text;
}

std::string group_of(const Place& place) {
  return place.read ? "read " + place.version + " " + place.name : "decrypt " + place.name;
}

Place place_of(std::string_view group) {
  Place out;
  const auto word = [&group] {
    const std::string_view found = group.substr(0, group.find(' '));
    group.remove_prefix(found.size() + 1);
    return std::string(found);
  };
  out.read = word() == "read";
  if (out.read) out.version = word();
  out.name = group;
  return out;
}

Result<Batch::Asked> asked_by(const secrets::Item& item, const TransitSettings& settings,
                              size_t bytes_max) {
  if (item.type == DAVIT_SECRET_READ) return read_of(item.ref, item.field, item.version);
  if (item.type != DAVIT_SECRET_DECRYPT) {
    return Error{Code::unimplemented,
                 "items of the type " + std::to_string(item.type) + " are not known here"};
  }
  if (item.keyring.empty()) return unusable("the item names no keyring");
  if (!is_key_name(item.keyring))
    return unusable("the keyring's name can be no key's: letters, digits, \"_\", \".\" and \"-\"");
  if (item.keyring.size() + item.ciphertext.size() > bytes_max) {
    return unusable("keyring and ciphertext have more than " + std::to_string(bytes_max) +
                    " bytes (batch_bytes_max)");
  }
  const std::string_view text = item.ciphertext;
  if (text.starts_with(reference_prefix))
    return referred(item, text.substr(reference_prefix.size()), settings);
  if (!text.starts_with(sealed_prefix) || !is_sealed(text.substr(sealed_prefix.size())))
    return unusable(
        "is neither a ciphertext of a transit key (vault:v1:...) nor a reference (kv:...)");
  return Batch::Asked{group_of({false, with_keyring(settings.key, item.keyring), {}}), text};
}

std::string url_path(std::string_view path) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (is_word(c) || c == '-' || c == '.' || c == '/') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

}  // namespace davit::secrets_transit
