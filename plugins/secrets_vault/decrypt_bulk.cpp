#include "decrypt_bulk.hpp"

#include <charconv>

namespace davit::secrets_vault {
namespace {

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Fields of both messages, and of an entry of their maps.
constexpr uint32_t keyring_field = 1, request_items_field = 2, response_items_field = 1;
constexpr uint32_t key_field = 1, value_field = 2;
// An answer with more entries beyond those that were asked for is not looked through.
constexpr size_t more_entries_max = 1'000;

void put_varint(std::string& out, uint64_t n) {
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  out += static_cast<char>(n);
}

size_t varint_size(uint64_t n) {
  size_t size = 1;
  for (; n >= 0x80; n >>= 7) ++size;
  return size;
}

void put_tag(std::string& out, uint32_t field) {
  put_varint(out, field << 3 | static_cast<uint32_t>(Wire::bytes));
}

void put_text(std::string& out, uint32_t field, std::string_view text) {
  put_tag(out, field);
  put_varint(out, text.size());
  out += text;
}

// Reads a message field by field.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  // False: the message is over, or malformed. `content` is that of a field of bytes, else empty.
  bool next() {
    if (rest_.empty()) return false;
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > field_max) return give_up();
    field = static_cast<uint32_t>(*tag >> 3);
    content = {};
    switch (static_cast<Wire>(*tag & 7)) {
      case Wire::varint:
        is_bytes = false;
        return varint().has_value() || give_up();
      case Wire::fixed64:
        return skip(8);
      case Wire::fixed32:
        return skip(4);
      case Wire::bytes: {
        const auto size = varint();
        if (!size || *size > rest_.size()) return give_up();
        content = rest_.substr(0, static_cast<size_t>(*size));
        rest_.remove_prefix(static_cast<size_t>(*size));
        is_bytes = true;
        return true;
      }
    }
    return give_up();
  }
  bool malformed() const { return malformed_; }

  uint32_t field = 0;
  bool is_bytes = false;
  std::string_view content;

 private:
  static constexpr uint64_t field_max = (1u << 29) - 1;

  bool give_up() {
    malformed_ = true;
    return false;
  }
  bool skip(size_t bytes) {
    is_bytes = false;
    if (rest_.size() < bytes) return give_up();
    rest_.remove_prefix(bytes);
    return true;
  }
  std::optional<uint64_t> varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

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
  put_text(out, keyring_field, keyring);
  for (size_t n = 0; n < ciphertexts.size(); ++n) {
    const std::string name = item_name(call, n);
    // Each text has a tag of one byte before its length.
    const size_t entry = 1 + varint_size(name.size()) + name.size() + 1 +
                         varint_size(ciphertexts[n].size()) + ciphertexts[n].size();
    put_tag(out, request_items_field);
    put_varint(out, entry);
    put_text(out, key_field, name);
    put_text(out, value_field, ciphertexts[n]);
  }
  return out;
}

Result<Decrypted> decode_response(std::string_view bytes, size_t count, uint64_t call) {
  const Error malformed{Code::internal, "is no DecryptBulkResponse"};
  const std::string prefix = prefix_of(call);
  Decrypted out;
  out.values.resize(count);
  size_t entries = 0;
  Reader message(bytes);
  while (message.next()) {
    if (message.field != response_items_field || !message.is_bytes) continue;
    if (++entries > count + more_entries_max) return malformed;
    std::string_view key, value;
    Reader entry(message.content);
    while (entry.next()) {
      if (!entry.is_bytes) continue;
      if (entry.field == key_field) key = entry.content;
      if (entry.field == value_field) value = entry.content;
    }
    if (entry.malformed()) return malformed;
    if (const auto index = index_of(key, prefix, count)) {
      out.values[*index] = Secret(value);
    } else {
      ++out.strangers;
    }
  }
  if (message.malformed()) return malformed;
  return out;
}

}  // namespace davit::secrets_vault
