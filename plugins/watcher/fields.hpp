// A walk over the fields of one protobuf message, without a schema: the ctrl.v1 messages of all
// kinds have one shape, and only that shape is read here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace davit::watcher {

struct Field {
  uint32_t number = 0;
  uint64_t integer = 0;    // varint and fixed-width fields
  std::string_view bytes;  // length-delimited fields; borrowed from the message
};

// Calls `visit` for each field in order. False: the message is malformed (fields before it were
// visited).
bool each_field(std::string_view message, const std::function<void(const Field&)>& visit);

void put_integer(std::string& message, uint32_t number, uint64_t value);
void put_bytes(std::string& message, uint32_t number, std::string_view value);

}  // namespace davit::watcher
