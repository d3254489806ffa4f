#include "decrypt_bulk.hpp"

#include <charconv>

#include "wire/fields.hpp"

namespace davit::secrets_vault {
namespace {

// Fields of both messages, and of an entry of their maps.
constexpr uint32_t keyring_field = 1, request_items_field = 2, response_items_field = 1;
constexpr uint32_t key_field = 1, value_field = 2;
// An answer with more entries beyond those that were asked for is not looked through.
constexpr size_t more_entries_max = 1'000;

// Which item of the call has the name.
std::optional<size_t> index_of(std::string_view name, const std::string& prefix, size_t count) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size() || index >= count)
    return std::nullopt;
  return index;
}

std::string prefix_of(uint64_t call) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), call, 16).ptr;
  return std::string(digits, end) + "-";
}

}  // namespace

std::string item_name(uint64_t call, size_t index) {
  return prefix_of(call) + std::to_string(index);
}

std::string encode_request(std::string_view keyring,
                           const std::vector<std::string_view>& ciphertexts, uint64_t call) {
  std::string out;
  wire::put_field(out, keyring_field, keyring);
  for (size_t n = 0; n < ciphertexts.size(); ++n) {
    const std::string name = item_name(call, n);
    wire::put_head(
        out, request_items_field,
        wire::field_size(key_field, name) + wire::field_size(value_field, ciphertexts[n]));
    wire::put_field(out, key_field, name);
    wire::put_field(out, value_field, ciphertexts[n]);
  }
  return out;
}

Result<Decrypted> decode_response(std::string_view bytes, size_t count, uint64_t call) {
  const Error malformed{Code::internal, "is no DecryptBulkResponse"};
  const std::string prefix = prefix_of(call);
  Decrypted out;
  out.values.resize(count);
  size_t entries = 0;
  const auto read_entry = [&](std::string_view entry) {
    std::string_view key, value;
    const bool whole = wire::each_field(entry, [&](const wire::Field& f) {
      if (f.is_bytes && f.number == key_field) key = f.bytes;
      if (f.is_bytes && f.number == value_field) value = f.bytes;
    });
    if (!whole) return false;
    if (const auto index = index_of(key, prefix, count)) {
      out.values[*index] = Secret(value);
    } else {
      ++out.strangers;
    }
    return true;
  };
  const bool whole = wire::each_field(bytes, [&](const wire::Field& f) {
    if (f.number != response_items_field || !f.is_bytes) return true;
    return ++entries <= count + more_entries_max && read_entry(f.bytes);
  });
  if (!whole) return malformed;
  return out;
}

}  // namespace davit::secrets_vault
