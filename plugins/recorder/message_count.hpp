// How many messages are nested in an encoded one, without decoding it: two bytes on the wire are
// enough to have hundreds of them in memory.
#pragma once

#include <string_view>

#include <google/protobuf/descriptor.h>

namespace davit::recorder {

// Counts up to `most` and one more. What cannot be decoded ends the count.
size_t messages_in(std::string_view encoded, const google::protobuf::Descriptor& type, size_t most);

}  // namespace davit::recorder
