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
  // A Value without a kind, at any depth, is left out of the text, which is then no JSON.
  if (status.ok() && text.empty()) text = "null";
  if (!status.ok() || !Json::parse(text).ok()) {
    return Error{Code::invalid_argument,
                 "a " + message.GetDescriptor()->full_name() + " of the message has no JSON form",
                 {},
                 {}};
  }
  out += text;
  return {};
}

Result<> read_well_known(const Json& json, pb::Message& message) {
  std::string text;
  json.write(text);
  const auto status = pb::util::JsonStringToMessage(text, &message);
  if (status.ok()) return {};
  return Error{Code::invalid_argument,
               std::string("is not the JSON of a ") + message.GetDescriptor()->full_name() +
                   " (found " + json.type_name() + ")",
               {},
               {}};
}

bool valid_utf8(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto byte = [&](size_t k) {
      return i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0u;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xc0) != 0x80) return false;
    }
    const unsigned second = byte(1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
      return false;  // written longer than need be, a surrogate, or beyond the last character
    }
    i += length;
  }
  return true;
}

}  // namespace davit::host
