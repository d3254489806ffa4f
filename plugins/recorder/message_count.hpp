// Counts the messages that are nested in an encoded message, without decoding it. The recorder
// checks each call with it first: two bytes on the wire can become hundreds in memory. Pure.
#pragma once

#include <string_view>

#include <google/protobuf/descriptor.h>

namespace davit::recorder {

// Counts up to `most` + 1. Bytes that cannot be decoded end the count.
size_t messages_in(std::string_view encoded, const google::protobuf::Descriptor& type, size_t most);

}  // namespace davit::recorder
