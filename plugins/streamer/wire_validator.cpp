#include "wire_validator.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <davit/utf8.hpp>

#include "wire/fields.hpp"

namespace davit::streamer {

namespace {

namespace pb = google::protobuf;

constexpr int depth_max = 100;  // protobuf's own limit

bool varints(std::string_view s) {
  while (!s.empty()) {
    if (!wire::take_varint(s)) return false;
  }
  return true;
}

}  // namespace

WireValidator::WireValidator(std::string_view descriptor_set, const std::string& type) {
  pb::FileDescriptorSet set;
  if (!set.ParseFromArray(descriptor_set.data(), static_cast<int>(descriptor_set.size()))) return;
  pb::DescriptorPool pool;
  for (const auto& file : set.file()) {
    if (pool.BuildFile(file) == nullptr) return;
  }
  const pb::Descriptor* root = pool.FindMessageTypeByName(type);
  if (root == nullptr) return;

  std::vector<const pb::Descriptor*> found{root};
  std::map<const pb::Descriptor*, size_t> places{{root, 0}};
  for (size_t i = 0; i < found.size(); ++i) {
    Fields fields;
    for (int n = 0; n < found[i]->field_count(); ++n) {
      const auto& f = *found[i]->field(n);
      const auto number = static_cast<uint64_t>(f.number());
      if (f.type() == pb::FieldDescriptor::TYPE_STRING) {
        fields[number] = {Sort::text, 0};
      } else if (f.type() == pb::FieldDescriptor::TYPE_MESSAGE) {
        const auto [place, is_new] = places.emplace(f.message_type(), found.size());
        if (is_new) found.push_back(f.message_type());
        fields[number] = {Sort::message, place->second};
      } else if (f.is_packable()) {
        const bool fixed32 = f.cpp_type() == pb::FieldDescriptor::CPPTYPE_FLOAT ||
                             f.type() == pb::FieldDescriptor::TYPE_FIXED32 ||
                             f.type() == pb::FieldDescriptor::TYPE_SFIXED32;
        const bool fixed64 = f.cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE ||
                             f.type() == pb::FieldDescriptor::TYPE_FIXED64 ||
                             f.type() == pb::FieldDescriptor::TYPE_SFIXED64;
        fields[number] = {fixed32 ? Sort::fixed32s : fixed64 ? Sort::fixed64s : Sort::varints, 0};
      }
    }
    messages_.push_back(std::move(fields));
  }
}

bool WireValidator::fits(std::string_view s, size_t index, int depth) const {
  if (depth > depth_max) return false;
  return wire::each_field(s, [&](const wire::Field& f) {
    return !f.is_bytes || delimited_fits(f.bytes, index, f.number, depth);
  });
}

bool WireValidator::delimited_fits(std::string_view value, size_t index, uint64_t number,
                                   int depth) const {
  if (index >= messages_.size()) return true;
  const auto field = messages_[index].find(number);
  if (field == messages_[index].end()) return true;
  switch (field->second.sort) {
    case Sort::text:
      return valid_utf8(value);
    case Sort::message:
      return fits(value, field->second.message, depth + 1);
    case Sort::varints:
      return varints(value);
    case Sort::fixed32s:
      return value.size() % 4 == 0;
    case Sort::fixed64s:
      return value.size() % 8 == 0;
  }
  return false;
}

}  // namespace davit::streamer
