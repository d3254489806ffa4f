// A JSON value that keeps numbers as they were written: 64-bit integers lose nothing, and a number
// that is passed on looks as it did. Used for walking an operator's document against a descriptor,
// and for the JSON that stands in bytes fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Json {
  enum class Type : uint8_t { null, boolean, number, string, array, object };

  // Bounds of one text: what is above is refused, so that nobody can make the host eat memory with
  // "[[[[[" or "0,0,0,".
  static constexpr size_t bytes_max = 16u << 20;
  static constexpr size_t depth_max = 100;  // protobuf's own limit for messages
  static constexpr size_t values_max = 1'000'000;

  Type type = Type::null;
  bool truth = false;
  std::string text;               // a string's content, a number as written
  std::vector<Json> items;        // an array's items, an object's values
  std::vector<std::string> keys;  // keys[i] names items[i]; duplicates are kept

  // INVALID_ARGUMENT with line and column.
  static Result<Json> parse(std::string_view text);
  // Compact; keys in the order they came.
  void write(std::string& out) const;
  // What a reader is told it found: "a string", "an object".
  const char* type_name() const;
  const Json* find(std::string_view key) const;
};

// Appends the text as a JSON string, with its quotes. It must be valid UTF-8.
void write_json_string(std::string_view text, std::string& out);

// The same by meaning: numbers by value, objects without order. The last of duplicate keys counts.
bool same_json(const Json& a, const Json& b);

// A number's value, exact: digits x 10^exponent, digits without zeros at either end (zero has
// none). False when the exponent is beyond all use; `text` must be a JSON number.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};
bool decimal(std::string_view text, Decimal& out);

}  // namespace davit::host
