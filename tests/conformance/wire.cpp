#include "wire.hpp"

#include <optional>

namespace davit::suite {

namespace {

enum class Shape : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

std::optional<uint64_t> take_varint(std::string_view& in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_bytes(std::string_view& in, uint64_t size) {
  if (size > in.size()) return std::nullopt;
  const std::string_view out = in.substr(0, size);
  in.remove_prefix(size);
  return out;
}

std::optional<Field> take_field(std::string_view& in) {
  const auto key = take_varint(in);
  if (!key) return std::nullopt;
  const auto shape = static_cast<Shape>(*key & 7);
  Field field;
  field.number = static_cast<uint32_t>(*key >> 3);
  if (shape == Shape::fixed64 || shape == Shape::fixed32) {
    if (!take_bytes(in, shape == Shape::fixed64 ? 8 : 4)) return std::nullopt;
    field.number = 0;  // of no use here
    return field;
  }
  const auto value = take_varint(in);
  if (!value) return std::nullopt;
  if (shape == Shape::varint) {
    field.value = *value;
    return field;
  }
  const auto bytes = take_bytes(in, *value);
  if (shape != Shape::bytes || !bytes) return std::nullopt;
  field.bytes = *bytes;
  return field;
}

}  // namespace

std::vector<Field> fields(std::string_view message) {
  std::vector<Field> out;
  while (const auto field = take_field(message)) {
    if (field->number != 0) out.push_back(*field);
  }
  return out;
}

bool is_message(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!take_field(bytes)) return false;
  }
  return true;
}

void Writer::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
  out_ += static_cast<char>(value);
}

Writer& Writer::number(uint32_t field, uint64_t value) {
  varint(uint64_t{field} << 3 | static_cast<uint64_t>(Shape::varint));
  varint(value);
  return *this;
}

Writer& Writer::bytes(uint32_t field, std::string_view value) {
  varint(uint64_t{field} << 3 | static_cast<uint64_t>(Shape::bytes));
  varint(value.size());
  out_ += value;
  return *this;
}

}  // namespace davit::suite
