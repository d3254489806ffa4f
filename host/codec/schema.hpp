// One descriptor set with everything made from it, and the bytes fields that hold JSON. It has a
// pool of its own: nothing is registered with the pool of generated code, so a set that repeats or
// contradicts our messages does no harm. It never changes. [any]
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <davit/types.hpp>

struct davit_schema {
  google::protobuf::DescriptorPool pool;
  google::protobuf::DynamicMessageFactory factory{&pool};
  std::unordered_map<std::string, const google::protobuf::Descriptor*> types;  // by full name
  std::unordered_set<const google::protobuf::FieldDescriptor*> json_fields;

  bool holds_json(const google::protobuf::FieldDescriptor* f) const {
    return json_fields.count(f) != 0;
  }
};

namespace davit::host {

// A larger message is refused. The limits of the RPC layer are far below.
constexpr size_t message_bytes_max = 64u << 20;

// Of the .proto files. They are a large part of a descriptor set.
enum class Comments { left_out, kept };

// INVALID_ARGUMENT, with the file and the element, if the set is not consistent.
Result<std::unique_ptr<davit_schema>> make_schema(std::string_view descriptor_set,
                                                  const std::vector<std::string>& json_fields,
                                                  Comments comments = Comments::left_out);

// An empty message on the arena, or INVALID_ARGUMENT if the set does not contain the type.
Result<google::protobuf::Message*> new_message(const davit_schema&, std::string_view type,
                                               google::protobuf::Arena&);
// Like new_message, with the bytes parsed into the message.
Result<google::protobuf::Message*> read_message(const davit_schema&, std::string_view type,
                                                std::string_view bytes, google::protobuf::Arena&);

}  // namespace davit::host
