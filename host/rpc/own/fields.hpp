// Access to a message of the host's own services by the names of its fields. The fields exist,
// because the descriptor set is the host's own. The messages are dynamic: a plugin or gRPC's
// library may bring the generated ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <google/protobuf/message.h>

namespace davit::host {

class Fields {
 public:
  explicit Fields(google::protobuf::Message& m) : message_(m), reflection_(*m.GetReflection()) {}
  Fields in(const char* name) const {
    return Fields(*reflection_.MutableMessage(&message_, field(name)));
  }
  Fields add(const char* name) const {
    return Fields(*reflection_.AddMessage(&message_, field(name)));
  }
  void set(const char* name, const std::string& to) const {
    reflection_.SetString(&message_, field(name), to);
  }
  void set(const char* name, int32_t to) const { reflection_.SetInt32(&message_, field(name), to); }
  void set_flag(const char* name, bool to) const {
    reflection_.SetBool(&message_, field(name), to);
  }
  void add(const char* name, const std::string& value) const {
    reflection_.AddString(&message_, field(name), value);
  }
  void add(const char* name, int32_t value) const {
    reflection_.AddInt32(&message_, field(name), value);
  }
  std::string text(const char* name) const { return reflection_.GetString(message_, field(name)); }
  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> out;
    for (int i = 0; i < reflection_.FieldSize(message_, field(name)); ++i)
      out.push_back(reflection_.GetRepeatedString(message_, field(name), i));
    return out;
  }
  int32_t number(const char* name) const { return reflection_.GetInt32(message_, field(name)); }
  // The number of an enum's value; also of one that this host does not know.
  int choice(const char* name) const { return reflection_.GetEnumValue(message_, field(name)); }
  google::protobuf::Message& message() const { return message_; }

 private:
  const google::protobuf::FieldDescriptor* field(const char* name) const {
    return message_.GetDescriptor()->FindFieldByName(name);
  }
  google::protobuf::Message& message_;
  const google::protobuf::Reflection& reflection_;
};

}  // namespace davit::host
