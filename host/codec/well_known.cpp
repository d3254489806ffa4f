#include "well_known.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include "json.hpp"

namespace davit::host {

namespace pb = google::protobuf;

bool is_well_known(const pb::Descriptor& type) {
  return type.well_known_type() != pb::Descriptor::WELLKNOWNTYPE_UNSPECIFIED;
}

Result<> print_well_known(const pb::Message& message, std::string& out) {
  pb::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = pb::util::MessageToJsonString(message, &text, options);
  // protobuf omits a Value without a kind, at any depth. The text is then not valid JSON.
  if (status.ok() && text.empty()) text = "null";
  if (!status.ok() || !Json::parse(text).ok()) {
    return Error{Code::invalid_argument,
                 "a " + message.GetDescriptor()->full_name() + " of the message has no JSON form"};
  }
  out += text;
  return {};
}

Result<> read_well_known(const Json& json, pb::Message& message) {
  std::string text;
  json.write(text);
  const auto status = pb::util::JsonStringToMessage(text, &message);
  if (status.ok()) return {};
  return Error{Code::invalid_argument, std::string("is not the JSON of a ") +
                                           message.GetDescriptor()->full_name() + " (found " +
                                           json.type_name() + ")"};
}

}  // namespace davit::host
