#include "text_form.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace davit::storage_postgres {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// The value of each hexadecimal digit; 0 for other characters.
constexpr auto hex_values = [] {
  std::array<uint8_t, 256> out{};
  for (uint8_t n = 0; n < 16; ++n) {
    out[static_cast<uint8_t>(hex_digits[n])] = n;
    if (n > 9) out[static_cast<uint8_t>(hex_digits[n] - 'a' + 'A')] = n;
  }
  return out;
}();
uint8_t hex_value(char c) {
  return hex_values[static_cast<uint8_t>(c)];
}

template <class Integer>
Integer parsed(std::string_view text) {
  Integer out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

void ArrayText::begin() {
  if (text_.size() > 1) text_ += ',';
}

ArrayText& ArrayText::add(std::string_view text) {
  begin();
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

ArrayText& ArrayText::add_bytes(std::string_view bytes) {
  begin();
  text_ += "\"\\\\x";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text_ += hex_digits[byte >> 4];
    text_ += hex_digits[byte & 15];
  }
  text_ += '"';
  return *this;
}

ArrayText& ArrayText::add_number(int64_t number) {
  begin();
  text_ += std::to_string(number);
  return *this;
}

ArrayText& ArrayText::add_number(uint64_t number) {
  begin();
  text_ += std::to_string(number);
  return *this;
}

ArrayText& ArrayText::add_bool(bool value) {
  begin();
  text_ += value ? 't' : 'f';
  return *this;
}

ArrayText& ArrayText::add_null() {
  begin();
  text_ += "NULL";
  return *this;
}

std::string ArrayText::take() {
  text_ += '}';
  return std::move(text_);
}

std::vector<std::string> array_elements(std::string_view text) {
  std::vector<std::string> out;
  if (text.size() < 2) return out;
  text = text.substr(1, text.size() - 2);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string& element = out.emplace_back();
    if (text[at] != '"') {
      const size_t end = std::min(text.find(',', at), text.size());
      element = text.substr(at, end - at);
      if (element == "NULL") element.clear();
      at = end;
      continue;
    }
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
      if (at < text.size()) element += text[at];
    }
    ++at;  // the quote; the loop passes the comma
  }
  return out;
}

void append_bytes(std::string& out, std::string_view hex) {
  if (hex.size() < 2) return;
  size_t to = out.size();
  out.resize(to + hex.size() / 2 - 1);
  for (size_t at = 2; at + 1 < hex.size(); at += 2)
    out[to++] = static_cast<char>(hex_value(hex[at]) << 4 | hex_value(hex[at + 1]));
}

std::string bounded_number(uint64_t number) {
  return std::to_string(std::min<uint64_t>(number, INT64_MAX));
}

uint64_t to_number(std::string_view text) {
  return parsed<uint64_t>(text);
}

int64_t to_integer(std::string_view text) {
  return parsed<int64_t>(text);
}

}  // namespace davit::storage_postgres
