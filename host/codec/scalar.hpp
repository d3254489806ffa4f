// Converts one JSON value to the value of a scalar field, and checks the field's type and range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <google/protobuf/descriptor.h>

#include <davit/types.hpp>

namespace google::protobuf {
class Message;
}

namespace davit::host {

struct Json;

struct EnumNumber {
  int value;
};
using Scalar = std::variant<int32_t, int64_t, uint32_t, uint64_t, float, double, bool, std::string,
                            EnumNumber>;

// INVALID_ARGUMENT says what was expected and what was found, without a path. Not for message
// fields.
Result<Scalar> read_scalar(const google::protobuf::FieldDescriptor&, bool holds_json, const Json&);
// Reads a map's key, which JSON writes as text.
Result<Scalar> read_key(const google::protobuf::FieldDescriptor&, std::string_view text);

// Sets a singular field, or appends to a repeated one.
void store(Scalar, google::protobuf::Message&, const google::protobuf::FieldDescriptor&);

}  // namespace davit::host
