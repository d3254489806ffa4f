// Protocol Buffers on the wire, as far as the messages of the suite need them: the fields of a
// message, and a message made of fields. There is no generated code, so that this builds without
// the suite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace davit::suite {

struct Field {
  uint32_t number = 0;
  uint64_t value = 0;      // of a varint
  std::string_view bytes;  // of a string, bytes or message; a view of the message
};

// In the order of the wire. What is malformed ends them, and what is neither a varint nor bytes is
// left out.
std::vector<Field> fields(std::string_view message);
// Whether nothing ends the fields before their end.
bool is_message(std::string_view bytes);

class Writer {
 public:
  Writer& number(uint32_t field, uint64_t value);
  Writer& bytes(uint32_t field, std::string_view value);
  std::string take() { return std::move(out_); }

 private:
  void varint(uint64_t value);
  std::string out_;
};

}  // namespace davit::suite
