#include "message_count.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace davit::recorder {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;

void count(std::string_view encoded, const pb::Descriptor& type, size_t most, size_t& found) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(encoded.data());
  pb::io::CodedInputStream in(bytes, static_cast<int>(encoded.size()));
  while (found <= most) {
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return;
    const auto* field = type.FindFieldByNumber(Wire::GetTagFieldNumber(tag));
    const bool nested = field != nullptr && field->message_type() != nullptr &&
                        Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED;
    if (!nested) {
      if (!Wire::SkipField(&in, tag)) return;
      continue;
    }
    uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return;
    const auto at = static_cast<size_t>(in.CurrentPosition());
    if (size > encoded.size() - at) return;
    ++found;
    count(encoded.substr(at, size), *field->message_type(), most, found);
    if (!in.Skip(static_cast<int>(size))) return;
  }
}

}  // namespace

// No type nests itself, so the recursion is as deep as the types are.
size_t messages_in(std::string_view encoded, const pb::Descriptor& type, size_t most) {
  size_t found = 0;
  count(encoded, type, most, found);
  return found;
}

}  // namespace davit::recorder
