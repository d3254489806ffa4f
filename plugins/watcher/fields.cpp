#include "fields.hpp"

namespace davit::watcher {
namespace {

enum : uint32_t { wire_varint = 0, wire_fixed64 = 1, wire_bytes = 2, wire_fixed32 = 5 };

std::optional<uint64_t> varint(std::string_view& rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take(std::string_view& rest, uint64_t size) {
  if (size > rest.size()) return std::nullopt;
  const auto out = rest.substr(0, static_cast<size_t>(size));
  rest.remove_prefix(static_cast<size_t>(size));
  return out;
}

bool read_value(std::string_view& rest, uint32_t wire_type, Field& field) {
  std::optional<std::string_view> raw;
  switch (wire_type) {
    case wire_varint: {
      const auto value = varint(rest);
      field.integer = value.value_or(0);
      return value.has_value();
    }
    case wire_fixed64:
      return take(rest, 8).has_value();
    case wire_fixed32:
      return take(rest, 4).has_value();
    case wire_bytes: {
      const auto size = varint(rest);
      if (size) raw = take(rest, *size);
      field.bytes = raw.value_or(std::string_view{});
      return raw.has_value();
    }
    default:
      return false;  // groups: proto3 has none
  }
}

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace

bool each_field(std::string_view message, const std::function<void(const Field&)>& visit) {
  while (!message.empty()) {
    const auto tag = varint(message);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return false;
    Field field;
    field.number = static_cast<uint32_t>(*tag >> 3);
    if (!read_value(message, static_cast<uint32_t>(*tag & 7), field)) return false;
    visit(field);
  }
  return true;
}

void put_integer(std::string& message, uint32_t number, uint64_t value) {
  if (value == 0) return;
  put_varint(message, uint64_t{number} << 3 | wire_varint);
  put_varint(message, value);
}

void put_bytes(std::string& message, uint32_t number, std::string_view value) {
  if (value.empty()) return;
  put_varint(message, uint64_t{number} << 3 | wire_bytes);
  put_varint(message, value.size());
  message.append(value);
}

}  // namespace davit::watcher
