// Values in PostgreSQL's text form: arrays and bytes, to the server and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/number.hpp"

namespace davit::storage_postgres {

// Builds the text of a one-dimensional array, for a parameter such as $1::text[].
class ArrayText {
 public:
  ArrayText& add(std::string_view text);
  ArrayText& add_bytes(std::string_view bytes);  // of bytea[]
  ArrayText& add_number(int64_t number);
  ArrayText& add_number(uint64_t number);
  template <class Purpose>
  ArrayText& add_number(Number<Purpose> number) {
    return add_number(number.value());
  }
  ArrayText& add_bool(bool value);
  ArrayText& add_null();
  std::string take();

 private:
  void begin();
  std::string text_ = "{";
};

// The elements of a one-dimensional array of texts. NULL is read as an empty text.
std::vector<std::string> array_elements(std::string_view text);

// Appends the bytes of a bytea in hexadecimal form ("\x0aff").
void append_bytes(std::string& out, std::string_view hex);

// The number, and the largest bigint for what is above it.
std::string bounded_number(uint64_t number);
template <class Purpose>
std::string bounded_number(Number<Purpose> number) {
  return bounded_number(number.value());
}

// The number in a text that the server gave: 0 when there is none.
uint64_t to_number(std::string_view text);
int64_t to_integer(std::string_view text);

}  // namespace davit::storage_postgres
