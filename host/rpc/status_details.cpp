#include "status_details.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

namespace davit::host {

namespace {

namespace io = google::protobuf::io;
using Format = google::protobuf::internal::WireFormatLite;

constexpr std::string_view url_prefix = "type.googleapis.com/";
// google.rpc.Status and google.protobuf.Any
constexpr int code_field = 1, message_field = 2, details_field = 3;
constexpr int type_field = 1, value_field = 2;

void put(io::CodedOutputStream& out, int field, const std::string& bytes) {
  out.WriteTag(Format::MakeTag(field, Format::WIRETYPE_LENGTH_DELIMITED));
  out.WriteVarint32(static_cast<uint32_t>(bytes.size()));
  out.WriteString(bytes);
}

std::string as_any(const Detail& d) {
  std::string out;
  io::StringOutputStream stream(&out);
  io::CodedOutputStream coded(&stream);
  put(coded, type_field, std::string(url_prefix) + d.type);
  if (!d.value.empty()) put(coded, value_field, d.value);
  coded.Trim();
  return out;
}

// Calls `each` with every length-delimited field. False if the message is malformed.
template <class Each>
bool each_field(std::string_view message, Each each) {
  io::CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                          static_cast<int>(message.size()));
  while (const uint32_t tag = in.ReadTag()) {
    if (Format::GetTagWireType(tag) != Format::WIRETYPE_LENGTH_DELIMITED) {
      if (!Format::SkipField(&in, tag)) return false;
      continue;
    }
    std::string bytes;
    uint32_t size = 0;
    if (!in.ReadVarint32(&size) || !in.ReadString(&bytes, static_cast<int>(size))) return false;
    each(Format::GetTagFieldNumber(tag), std::move(bytes));
  }
  return in.ConsumedEntireMessage();
}

}  // namespace

std::string status_details(const End& end) {
  std::string out;
  if (end.details.empty()) return out;
  io::StringOutputStream stream(&out);
  io::CodedOutputStream coded(&stream);
  coded.WriteTag(Format::MakeTag(code_field, Format::WIRETYPE_VARINT));
  coded.WriteVarint32(static_cast<uint32_t>(end.code));
  put(coded, message_field, end.message);
  for (const Detail& d : end.details) put(coded, details_field, as_any(d));
  coded.Trim();
  return out;
}

std::vector<Detail> read_status_details(std::string_view status) {
  std::vector<Detail> out;
  each_field(status, [&](int field, std::string any) {
    if (field != details_field) return;
    Detail d;
    each_field(any, [&](int part, std::string bytes) {
      if (part == type_field) d.type = bytes.substr(bytes.rfind('/') + 1);
      if (part == value_field) d.value = std::move(bytes);
    });
    if (!d.type.empty()) out.push_back(std::move(d));
  });
  return out;
}

}  // namespace davit::host
