#include "status_details.hpp"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/unknown_field_set.h>

namespace davit::host {

namespace {

using google::protobuf::Any;
using google::protobuf::UnknownField;
// google.rpc.Status by its fields' numbers: a plugin or gRPC's library may bring the generated
// message.
using Status = google::protobuf::UnknownFieldSet;

constexpr const char* url_prefix = "type.googleapis.com/";
constexpr int code_field = 1, message_field = 2, details_field = 3;

}  // namespace

std::string status_details(const End& end) {
  std::string out;
  if (end.details.empty()) return out;
  Status status;
  status.AddVarint(code_field, static_cast<uint64_t>(end.code));
  status.AddLengthDelimited(message_field, end.message);
  for (const Detail& d : end.details) {
    Any any;
    any.set_type_url(url_prefix + d.type);
    any.set_value(d.value);
    status.AddLengthDelimited(details_field, any.SerializeAsString());
  }
  status.SerializeToString(&out);
  return out;
}

std::vector<Detail> read_status_details(std::string_view bytes) {
  std::vector<Detail> out;
  Status status;
  if (!status.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return out;
  for (int i = 0; i < status.field_count(); ++i) {
    const UnknownField& field = status.field(i);
    const bool is_detail =
        field.number() == details_field && field.type() == UnknownField::TYPE_LENGTH_DELIMITED;
    Any any;
    if (!is_detail || !any.ParseFromString(field.length_delimited())) continue;
    const std::string& url = any.type_url();
    if (!url.empty()) out.push_back({url.substr(url.rfind('/') + 1), any.value()});
  }
  return out;
}

}  // namespace davit::host
