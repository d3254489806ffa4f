// Reads and writes the fields of one protobuf message without a schema
// (protobuf.dev/programming-guides/encoding). What is read is borrowed from the message. What is
// written goes to a std::string, or to a Wiped. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace davit::wire {

enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };  // no groups

struct Field {
  uint32_t number = 0;
  uint64_t integer = 0;    // of a varint field; 0 for all others
  bool is_bytes = false;   // whether it is length-delimited
  std::string_view bytes;  // of a length-delimited field; borrowed from the message
};

// Takes a number from the front of `rest`. Nothing: it is cut off, or longer than 64 bits.
inline std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Takes so many bytes from the front of `rest`. Nothing: there are fewer.
inline std::optional<std::string_view> take_bytes(std::string_view& rest, uint64_t count) {
  if (count > rest.size()) return std::nullopt;
  const auto out = rest.substr(0, static_cast<size_t>(count));
  rest.remove_prefix(static_cast<size_t>(count));
  return out;
}

// Takes the field at the front of `rest`. Nothing: it is malformed. A group is: proto3 has none.
inline std::optional<Field> take_field(std::string_view& rest) {
  constexpr uint64_t number_max = (1u << 29) - 1;
  const auto tag = take_varint(rest);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > number_max) return std::nullopt;
  Field out;
  out.number = static_cast<uint32_t>(*tag >> 3);
  std::optional<uint64_t> value;
  switch (static_cast<Type>(*tag & 7)) {
    case Type::varint:
      if (!(value = take_varint(rest))) return std::nullopt;
      out.integer = *value;
      return out;
    case Type::fixed64:
      return take_bytes(rest, 8) ? std::optional(out) : std::nullopt;
    case Type::fixed32:
      return take_bytes(rest, 4) ? std::optional(out) : std::nullopt;
    case Type::bytes: {
      value = take_varint(rest);
      const auto content = value ? take_bytes(rest, *value) : std::nullopt;
      if (!content) return std::nullopt;
      out.is_bytes = true;
      out.bytes = *content;
      return out;
    }
  }
  return std::nullopt;
}

// Calls `visit` for each field in order, until it returns false, if it returns anything. False: the
// message is malformed, or `visit` has returned false. The fields before were visited.
template <class Visit>
bool each_field(std::string_view message, Visit&& visit) {
  while (!message.empty()) {
    const auto field = take_field(message);
    if (!field) return false;
    if constexpr (std::is_void_v<std::invoke_result_t<Visit, const Field&>>) {
      visit(*field);
    } else if (!visit(*field)) {
      return false;
    }
  }
  return true;
}

template <class Out>
void put_varint(Out& out, uint64_t value) {
  char byte = 0;
  for (; value >= 0x80; value >>= 7) {
    byte = static_cast<char>(value | 0x80);
    out.append(std::string_view(&byte, 1));
  }
  byte = static_cast<char>(value);
  out.append(std::string_view(&byte, 1));
}

inline size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline uint64_t tag_of(uint32_t number, Type type) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(type);
}

// What precedes the `size` bytes of a length-delimited field.
template <class Out>
void put_head(Out& out, uint32_t number, size_t size) {
  put_varint(out, tag_of(number, Type::bytes));
  put_varint(out, size);
}

// Appends a length-delimited field, an empty one as well; and how many bytes that is.
template <class Out>
void put_field(Out& out, uint32_t number, std::string_view value) {
  put_head(out, number, value.size());
  out.append(value);
}
inline size_t field_size(uint32_t number, std::string_view value) {
  return varint_size(tag_of(number, Type::bytes)) + varint_size(value.size()) + value.size();
}

// Append a field. Zero and empty values are left out, as in proto3.
template <class Out>
void put_integer(Out& out, uint32_t number, uint64_t value) {
  if (value == 0) return;
  put_varint(out, tag_of(number, Type::varint));
  put_varint(out, value);
}
template <class Out>
void put_bytes(Out& out, uint32_t number, std::string_view value) {
  if (!value.empty()) put_field(out, number, value);
}

}  // namespace davit::wire
