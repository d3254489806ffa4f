// A JSON value that keeps each number as it was written, so that 64-bit integers and the form of a
// number are preserved. It is used to check an operator's document against a descriptor, and for
// the JSON in bytes fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Json {
  enum class Type : uint8_t { null, boolean, number, string, array, object };

  // Limits for one text. Anything above is refused, so that input such as "[[[[[" or "0,0,0,"
  // cannot exhaust the host's memory.
  static constexpr size_t bytes_max = 16u << 20;
  static constexpr size_t depth_max = 100;  // protobuf's own limit for messages
  static constexpr size_t values_max = 1'000'000;

  Type type = Type::null;
  bool truth = false;
  std::string text;               // a string's content, a number as written
  std::vector<Json> items;        // an array's items, an object's values
  std::vector<std::string> keys;  // keys[i] names items[i]; duplicates are kept

  // INVALID_ARGUMENT, with line and column, if the text is not JSON or exceeds a limit.
  static Result<Json> parse(std::string_view text);
  // Appends the value without white space; keys keep their order.
  void write(std::string& out) const;
  // The type's name for error messages: "a string", "an object".
  const char* type_name() const;
  const Json* find(std::string_view key) const;
};

// Appends the text as a JSON string, with its quotes. It must be valid UTF-8.
void write_json_string(std::string_view text, std::string& out);

// Compares by meaning: numbers by value, objects without order. The last of duplicate keys counts.
bool same_json(const Json& a, const Json& b);

// The exact value of a number: digits x 10^exponent. The digits have no zeros at either end, and
// zero has no digits. False: the exponent is too large to be useful. `text` must be a JSON number.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};
bool decimal(std::string_view text, Decimal& out);

}  // namespace davit::host
