// Reads and writes the fields of one protobuf message without a schema. The ctrl.v1 dialect uses
// it: the states and requests of all kinds have the same fields on that wire.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace davit::watcher {

struct Field {
  uint32_t number = 0;
  uint64_t integer = 0;    // of a varint field; 0 for all others
  std::string_view bytes;  // of a length-delimited field; borrowed from the message
};

// Calls `visit` for each field in order. False: the message is malformed; the fields before the
// fault were visited.
bool each_field(std::string_view message, const std::function<void(const Field&)>& visit);

// Append a field. Zero and empty values are left out, as in proto3.
void put_integer(std::string& message, uint32_t number, uint64_t value);
void put_bytes(std::string& message, uint32_t number, std::string_view value);

}  // namespace davit::watcher
