// The messages of google.protobuf that have a JSON form of their own (Timestamp, Struct, wrappers,
// Any, ...). protobuf's own converter handles them.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace davit::host {

struct Json;

bool is_well_known(const google::protobuf::Descriptor&);
Result<> print_well_known(const google::protobuf::Message&, std::string& out);
// The error has no path; the caller adds it.
Result<> read_well_known(const Json&, google::protobuf::Message&);

}  // namespace davit::host
